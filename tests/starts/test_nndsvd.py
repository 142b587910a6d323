"""NNDSVD of data matrices and of similarities, against scikit-learn's and by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition._nmf import _initialize_nmf

from symclust.objectives import Frobenius
from symclust.operators import Bipartite, Dense
from symclust.starts import Nndsvd, Nndsvda, Nndsvdar
from symclust.two_factors import TwoFactors


@pytest.fixture
def data():
    return np.random.default_rng(0).gamma(0.5, size=(40, 25))


@pytest.mark.parametrize("as_array", [np.asarray, sp.csr_array])
def test_is_that_of_scikit_learn(data, as_array):
    operator = Bipartite(as_array(data))
    W, C = operator.sides(Nndsvd().factor(TwoFactors(operator), 5))
    theirs, components = _initialize_nmf(data, 5, init="nndsvd")
    # Ours takes singular vectors to three digits; a column's product is what both agree on.
    for l in range(5):
        np.testing.assert_allclose(
            np.outer(W[:, l], C[:, l]), np.outer(theirs[:, l], components[l]), atol=2e-2
        )
        assert np.linalg.norm(W[:, l]) == pytest.approx(np.linalg.norm(C[:, l]), rel=1e-6)


def test_zeros_are_filled(data):
    objective = TwoFactors(Bipartite(data))
    H = Nndsvd().factor(objective, 5)
    assert 0.1 < np.mean(H == 0) < 0.9
    filled = Nndsvda().factor(objective, 5)
    np.testing.assert_array_equal(filled[H > 0], H[H > 0])
    np.testing.assert_allclose(filled[H == 0], np.sqrt(data.mean() / 5))
    noisy = Nndsvdar().factor(objective, 5, np.random.RandomState(0))
    assert noisy[H == 0].min() > 0 and noisy[H == 0].max() <= 0.01 * np.sqrt(data.mean() / 5)


@pytest.mark.parametrize("start", [Nndsvd, Nndsvda, Nndsvdar])
def test_starts_have_the_scale_of_factors(data, start):
    """A hundred times the data, ten times the factors."""
    small, large = (
        start().factor(TwoFactors(Bipartite(c * data)), 5, np.random.RandomState(0)) for c in (1, 100)
    )
    np.testing.assert_allclose(large, 10 * small, rtol=1e-9)


def test_columns_beyond_the_rank_are_random_and_positive():
    objective = TwoFactors(Bipartite(np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 0.0, 2.0])))
    first, second = (Nndsvd().factor(objective, 3, np.random.RandomState(seed)) for seed in (0, 1))
    np.testing.assert_array_equal(first[:, 0], second[:, 0])
    assert (first[:, 1:] != second[:, 1:]).all() and first[:, 1:].min() > 0


def test_a_similarity_has_one_side():
    A = np.kron(np.diag([3.0, 2.0, 1.0]), np.ones((3, 3)))
    H = Nndsvd().factor(Frobenius(Dense(A)), 3)
    np.testing.assert_allclose(H @ H.T, A, atol=1e-2)


def test_precision_stays(data):
    for start in (Nndsvd, Nndsvda):
        assert start().factor(TwoFactors(Bipartite(data.astype(np.float32))), 3).dtype == np.float32
