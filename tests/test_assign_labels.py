"""Labels read off memberships: each way, by each model that offers it, for training and unseen samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from symclust import (
    NMF,
    AffineNMF,
    GraphNMF,
    OffDiagonalSymNMF,
    SparseNMF,
    SymmetricFactorization,
    SymNMF,
    load,
    registry,
)
from symclust.assign_labels import Argmax, Kmeans, Scaled
from symclust.exceptions import OptionError

WAYS = registry.options("assign_labels")
MODELS = [SymNMF, OffDiagonalSymNMF, SymmetricFactorization, NMF, SparseNMF, AffineNMF, GraphNMF]


def heavy(n=40, seed=0):
    """Return nonnegative rows of two directions, of which the first is longer, ten times as frequent."""
    rng = np.random.default_rng(seed)
    kind = np.repeat([0, 1], [n, n // 10])
    return rng.random((len(kind), 12)) + 3 * (np.arange(12) % 2 == kind[:, None]), kind


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 30), k=st.integers(1, 5))
def test_scaled_columns_are_compared_by_their_shares(seed, n, k):
    rng = np.random.default_rng(seed)
    H = rng.random((n, k)) * rng.integers(0, 2, (n, k)) * 10.0 ** rng.integers(-3, 4, k)
    labels = Scaled(H)(H)
    for row, label in zip(H, labels, strict=True):
        shares = [h / total if total else 0 for h, total in zip(row, H.sum(axis=0), strict=True)]
        assert shares[label] == pytest.approx(max(shares)) if row.any() else label == -1
    np.testing.assert_array_equal(Scaled(sparse.csr_array(H))(sparse.csr_array(H)), labels)
    np.testing.assert_array_equal(Scaled(H * 2.0**5)(H * 2.0**5), labels)


def test_k_means_leaves_rows_of_zeros_out():
    H = np.array([[1.0, -1.0], [1.1, -1.0], [-1.0, 1.0], [0.0, 0.0]])
    labels = Kmeans(H)(H)
    assert labels[0] == labels[1] != labels[2]
    assert labels[3] == -1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", MODELS)
def test_predict_reads_as_fit_does_also_from_a_file(model, way, tmp_path):
    X, _ = heavy()
    fitted = model(2, assign_labels=way, random_state=0).fit(X)
    expected = registry.resolve("assign_labels", way)(fitted.membership_, _seed(fitted, way))
    np.testing.assert_array_equal(fitted.labels_, expected(fitted.membership_))
    new = X[::3] * 1.01 + 0.001
    np.testing.assert_array_equal(fitted.predict(new), expected(fitted.transform(new)))
    fitted.save(tmp_path / "model.symclust")
    np.testing.assert_array_equal(load(tmp_path / "model.symclust").predict(new), fitted.predict(new))


def _seed(model, way):
    return np.random.RandomState(model.random_state).randint(2**31 - 1) if way == "kmeans" else 0


def test_auto_scales_columns_of_complete_similarities_alone():
    X, _ = heavy()
    assert type(SymNMF(2, affinity="cosine", random_state=0).fit(X).assignment_) is Scaled
    assert type(SymNMF(2, random_state=0).fit(X).assignment_) is Argmax
    assert type(SymmetricFactorization(2, random_state=0).fit(X).assignment_) is Kmeans
    assert type(NMF(2).fit(X).assignment_) is Argmax


def test_a_heavy_column_does_not_swallow_the_rest():
    rng = np.random.default_rng(0)
    weights = rng.random((60, 2)) @ np.diag([3.0, 1.0])
    A = weights @ weights.T
    plain, scaled = (
        OffDiagonalSymNMF(2, affinity="precomputed", assign_labels=way).fit(A).labels_
        for way in ("argmax", "auto")
    )
    shares = [np.bincount(labels, minlength=2).max() / 60 for labels in (plain, scaled)]
    assert shares[0] > 0.75 > 0.65 > shares[1]


@pytest.mark.parametrize("model", MODELS)
def test_an_unknown_way_is_refused(model):
    with pytest.raises(OptionError, match=r"assign_labels='guess'.*'argmax', 'kmeans', 'scaled'"):
        model(2, assign_labels="guess").fit(heavy()[0])
