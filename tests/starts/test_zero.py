"""The zero start: the first sweep of coordinate descent over nothing."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from symclust.objectives import Absolute, Frobenius, OffDiagonal
from symclust.operators import Dense, Gram, Sparse
from symclust.starts import Zero

OBJECTIVES = (OffDiagonal, Absolute, Frobenius)


def features(n=30, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(size=(n, 6)) * (rng.uniform(size=(n, 6)) < 0.5)


def cost(objective, A, H):
    E = A - H @ H.T
    if objective is not Frobenius:
        np.fill_diagonal(E, 0)
    return np.abs(E).sum() if objective is Absolute else np.sum(E**2)


def best_entry(objective, A, H, i, l):
    """The best of zero and all stationary points or breakpoints of one entry."""
    r = A[i] - H @ H[i] + H[:, l] * H[i, l]
    h = np.delete(H[:, l], i)
    rest = np.delete(r, i)
    if objective is Absolute:
        candidates = rest[h > 0] / h[h > 0]
    elif objective is Frobenius:
        roots = np.roots([1.0, 0.0, h @ h - r[i], -h @ rest])
        candidates = roots.real[np.abs(roots.imag) <= 1e-8 * np.abs(roots)]
    else:
        candidates = np.array([h @ rest / (h @ h)] if h.any() else [])
    trials = []
    for x in [0.0, *np.sort(candidates[candidates > 0])]:
        trial = H.copy()
        trial[i, l] = x
        trials.append((cost(objective, A, trial), x))
    return min(trials)[1]


def zero_twin(A, k, objective):
    H = np.zeros((len(A), k))
    for l in range(k):
        if objective is not Frobenius:
            R = A - H @ H.T
            np.fill_diagonal(R, 0)
            seed = int(R.sum(axis=1).argmax())
            H[seed, l] = np.sqrt(max(R[seed].max(), 0.0))
        order = np.arange(len(A))
        if objective is not Frobenius:  # alone, it would fall back to zero
            order = np.append(np.delete(order, seed), seed)
        for i in order:
            H[i, l] = best_entry(objective, A, H, i, l)
    return H


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_form_equals_the_twin(objective):
    X = features()
    A = X @ X.T
    expected = zero_twin(A, 3, objective)
    # A quartic that is flat at zero has a minimiser that is known only to the cube root of the rounding.
    tolerance = 1e-3 if objective is Frobenius else 1e-7
    for operator in (Dense(A), Sparse(sp.csr_array(A)), Gram(X)):
        assert_allclose(Zero().factor(objective(operator), 3), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_it_leaves_zero(objective, dtype):
    X = features(seed=3).astype(dtype)
    A = X @ X.T
    H = Zero().factor(objective(Dense(A)), 3)
    assert H.dtype == dtype
    assert H.any(axis=0).all()
    assert H.min() >= 0
    assert cost(objective, A, H) < 0.9 * cost(objective, A, np.zeros_like(H))


@pytest.mark.parametrize("objective", [OffDiagonal, Absolute])
def test_the_diagonal_does_not_matter(objective):
    X = features(seed=1)
    A, B = X @ X.T, X @ X.T + np.diag(np.arange(30.0))
    expected = Zero().factor(objective(Dense(A)), 3)
    for operator in (Dense(B), Sparse(sp.csr_array(B))):
        assert_allclose(Zero().factor(objective(operator), 3), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_scale(objective):
    A = features() @ features().T
    H = Zero().factor(objective(Dense(A)), 3)
    assert_allclose(Zero().factor(objective(Dense(2.0**10 * A)), 3), 2.0**5 * H, rtol=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_without_similarities_it_stays(objective):
    assert_array_equal(Zero().factor(objective(Dense(np.zeros((5, 5)))), 2), 0)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_similarity_with_an_empty_diagonal_leaves_zero(objective):
    # The seed is the last sample: nothing before it grows unless it is still there.
    A = sp.block_diag([np.zeros((3, 3)), np.ones((4, 4))]).toarray()
    np.fill_diagonal(A, 0)
    A[-1, 3:-1] = A[3:-1, -1] = 2
    H = Zero().factor(objective(Dense(A)), 1)
    assert H[3:].all()
    assert cost(objective, A, H) < cost(objective, A, np.zeros_like(H))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_columns_with_nothing_left_to_explain_stay_empty(objective):
    A = sp.block_diag([np.ones((3, 3)), np.ones((4, 4))]).toarray()
    H = Zero().factor(objective(Dense(A)), 4)
    assert_allclose(H @ H.T, A, atol=1e-12)
    assert not H[:, 2:].any()
