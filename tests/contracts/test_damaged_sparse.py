"""Sparse arrays whose indices do not fit together: every estimator refuses them by name."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

import symclust
from symclust import DivisiveClustering, LinkageClustering, OffDiagonalSymNMF, SymNMF
from symclust.exceptions import InputError
from symclust.operators import as_operator

EXPORTED = [getattr(symclust, name) for name in symclust.__all__]
ESTIMATORS = [thing for thing in EXPORTED if isinstance(thing, type) and issubclass(thing, BaseEstimator)]
N = 60


def make(cls):
    model = cls(SymNMF(2), 3) if cls is DivisiveClustering else cls(3)
    if cls is LinkageClustering:
        model.set_params(affinity="nearest_neighbors", linkage="single")
    return model


def samples():
    rng = np.random.default_rng(0)
    X = 3 * np.eye(3, 6)[np.arange(N) * 3 // N] + rng.random((N, 6))
    return sp.csr_array(np.where(X < 0.5, 0, X))


def similarity():
    X = samples().toarray()
    return sp.csr_array(np.maximum(X @ X.T - 3, 0))


def falling(X):
    X.indptr[[5, 6]] = X.indptr[[6, 5]]


def short(X):
    X.indptr = X.indptr[:-3]


def long(X):
    X.indptr[-1] += 50


def late(X):
    X.indptr[0] = 1


def outside(X):
    X.indices[3] = 10**6


def negative(X):
    X.indices[3] = -1


def few_values(X):
    X.data = X.data[:-2]


def fractions(X):
    X.indices = X.indices + 0.5


DAMAGES = [falling, short, long, late, outside, negative, few_values, fractions]
every_damage = pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)


def damaged(X, damage):
    X = X.copy()
    damage(X)
    return X


@every_damage
@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_estimators_refuse_damaged_features(cls, damage):
    with pytest.raises(InputError, match=r"The sparse X is damaged: .* Make it anew"):
        make(cls).fit(damaged(samples(), damage))


@every_damage
@pytest.mark.parametrize("format", ["csr", "csc", "bsr"])
def test_estimators_refuse_damaged_similarities(format, damage):
    S = damaged(similarity().asformat(format), damage)
    for affinity in ("precomputed", "network", "auto"):
        with pytest.raises(InputError, match="is damaged"):
            SymNMF(3, affinity=affinity).fit(S)
    with pytest.raises(InputError, match="is damaged"):
        as_operator(S)


@every_damage
def test_what_is_given_beside_the_data_is_checked_too(damage):
    S = similarity()
    with pytest.raises(InputError, match="The sparse ignore is damaged"):
        OffDiagonalSymNMF(3, affinity="precomputed", ignore=damaged(S, damage)).fit(S)
    with pytest.raises(InputError, match="The sparse init is damaged"):
        SymNMF(6, affinity="precomputed", init=damaged(samples(), damage)).fit(S)


def test_coordinates_are_checked():
    S = similarity().tocoo()
    S.row[3] = N
    with pytest.raises(InputError, match="its indices go from 0 to 60, expected 0 to 59"):
        SymNMF(3, affinity="precomputed").fit(S)


@pytest.mark.parametrize("kind", [np.uint32, np.uint64, np.int16, np.uint8])
def test_other_whole_numbers_are_as_good(kind):
    X = samples()
    X.indices, X.indptr = X.indices.astype(kind), X.indptr.astype(np.uint64)
    assert X.indices.dtype == kind
    labels = SymNMF(3, random_state=0).fit(X).labels_
    assert (labels == SymNMF(3, random_state=0).fit(samples()).labels_).all()
    assert X.indices.dtype == kind  # what was given stays as it is


def test_duplicates_and_disorder_are_no_damage():
    X = samples()
    twice = sp.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
    turned = X.copy()
    for i in range(N):
        own = slice(X.indptr[i], X.indptr[i + 1])
        turned.indices[own], turned.data[own] = X.indices[own][::-1], X.data[own][::-1]
    expected = SymNMF(3, random_state=0).fit(X).labels_
    for same in (twice, turned):
        assert (SymNMF(3, random_state=0).fit(same).labels_ == expected).all()
