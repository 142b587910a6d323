"""The greedy start against Algorithm 6 written plainly, with everything it says about its deviations."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from symclust.objectives import Absolute, Frobenius, IgnoredPairs, OffDiagonal
from symclust.operators import Dense, Gram, Sparse
from symclust.starts import Greedy, GreedyAsPrinted, GreedyThroughout

OBJECTIVES = (OffDiagonal, Absolute, Frobenius)
WITHOUT_DIAGONAL = (OffDiagonal, Absolute)


def median(a, b):
    """Algorithm 7 with its last line."""
    at, a = b[a > 0] / a[a > 0], a[a > 0]
    if not a.size:
        return 0.0
    order = np.argsort(at, kind="stable")
    sums = np.cumsum(a[order])
    return max(0.0, at[order][np.searchsorted(sums, sums[-1] / 2)])


def quartic(curvature, slope):
    roots = np.roots([1.0, 0.0, curvature, slope])
    x = np.append(roots.real[(np.abs(roots.imag) <= 1e-8 * np.abs(roots)) & (roots.real > 0)], 0.0)
    return x[np.argmin(x**4 / 4 + curvature * x**2 / 2 + slope * x)]


def best_entry(objective, h, r, own):
    """Lines 20-31: minimise over one entry given those chosen before, h, and the residual towards them, r."""
    if objective is Absolute:
        return median(h, r)
    if objective is Frobenius:
        return quartic(h @ h - own, -h @ r)
    return max(0.0, h @ r / (h @ h)) if h.any() else 0.0


def greedy_twin(A, k, objective):
    A = A.astype(float)
    n = len(A)
    H = np.zeros((n, k))
    for j in range(k):
        residual = A - H @ H.T
        own = residual.diagonal().copy()
        np.fill_diagonal(residual, 0)
        # A sample's similarity to itself says nothing; the largest of the best-connected sample stands in.
        level = max(residual[residual.sum(axis=1).argmax()].max(initial=0.0), 0.0)
        ties = A - np.diag(A.diagonal()) + level * np.eye(n)
        scored = ties - H @ H.T
        w, chosen = np.ones(n), []
        for i in range(1, n + 1):
            if i < max(2 * k, 3):
                score = scored @ w
            score[chosen] = -np.inf
            pick = int(np.argmax(score))
            if i == 1:
                H[pick, j] = np.sqrt(level)
                w = ties[:, pick].copy()
            else:
                H[pick, j] = best_entry(objective, H[chosen, j], residual[chosen, pick], own[pick])
                w += ties[:, pick]
            chosen.append(pick)
    return H


def printed_twin(A, k, objective, picks):
    """Algorithm 6 line by line, and with as many picks as samples Algorithm 5."""
    n = len(A)
    H = np.zeros((n, k))
    for j in range(k):
        w, chosen = np.ones(n), []
        for i in range(1, n + 1):
            if i < max(picks, 3):
                score = A @ w - H[:, :j] @ (H[:, :j].T @ w)
            score[chosen] = -np.inf
            pick = int(np.argmax(score))
            if i == 1:
                H[pick, j] = 1
                w = A[:, pick].copy()
            else:
                rest = A[chosen, pick] - H[chosen, :j] @ H[pick, :j]
                H[pick, j] = best_entry(objective, H[chosen, j], rest, None)
                w += A[:, pick]
            chosen.append(pick)
    return H


def random_features(n, seed=0, d=6):
    rng = np.random.default_rng(seed)
    return rng.uniform(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.5)


def forms(X):
    return [Dense(X @ X.T), Sparse(sp.csr_array(X @ X.T)), Gram(X)]


@pytest.mark.parametrize("k", [1, 2, 4, 9])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_form_equals_the_twin(objective, k):
    X = random_features(40)
    expected = greedy_twin(X @ X.T, k, objective)
    for operator in forms(X):
        H = Greedy().factor(objective(operator), k)
        assert_allclose(H, expected, rtol=1e-7, atol=1e-7)
        assert H.dtype == np.float64


@settings(max_examples=40)
@given(
    n=st.integers(1, 10), k=st.integers(1, 4), seed=st.integers(0, 2**16),
    objective=st.sampled_from(WITHOUT_DIAGONAL),
)  # fmt: skip
def test_small_and_binary(n, k, seed, objective):
    # Sums of zeros and ones are exact in the first column; later ones of the squared loss are rounded.
    A = np.triu(np.random.default_rng(seed).uniform(size=(n, n)) < 0.5).astype(float)
    A = np.maximum(A, A.T)
    columns = k if objective is Absolute else 1
    expected = greedy_twin(A, k, objective)[:, :columns]
    for operator in (Dense(A), Sparse(sp.csr_array(A))):
        assert_allclose(
            Greedy().factor(objective(operator), k)[:, :columns], expected, rtol=1e-12, atol=1e-14
        )


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scale(objective, dtype):
    X = random_features(30).astype(dtype)
    H = Greedy().factor(objective(Dense(X @ X.T)), 3)
    assert H.dtype == dtype
    assert_array_equal(Greedy().factor(objective(Dense(dtype(2**10) * (X @ X.T))), 3), dtype(2**5) * H)
    if dtype is np.float64:
        assert_allclose(
            Greedy().factor(objective(Dense(7.3 * (X @ X.T))), 3), np.sqrt(7.3) * H, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("objective", WITHOUT_DIAGONAL)
def test_the_diagonal_does_not_matter(objective):
    X = random_features(30, seed=1)
    A = X @ X.T
    B = A + np.diag(np.random.default_rng(0).uniform(0, 5, size=30))
    expected = Greedy().factor(objective(Dense(A)), 3)
    for operator in (Dense(B), Sparse(sp.csr_array(B)), Gram(X, self_edges=False)):
        assert_allclose(Greedy().factor(objective(operator), 3), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("sizes", [(5, 5), (3, 8, 5)])
def test_separate_cliques_are_found(objective, sizes):
    A = sp.block_diag([np.ones((m, m)) for m in sizes]).toarray()
    for operator in (Dense(A), Sparse(sp.csr_array(A))):
        H = Greedy().factor(objective(operator), len(sizes))
        assert_allclose(H @ H.T, A, atol=1e-12)


@pytest.mark.parametrize("objective", WITHOUT_DIAGONAL)
def test_ignored_pairs_do_not_matter(objective):
    X = random_features(25, seed=2)
    A, B = X @ X.T, X @ X.T
    mask = np.triu(np.random.default_rng(0).uniform(size=A.shape) < 0.2, 1)
    mask |= mask.T
    B[mask] = 9.0
    pattern = sp.csr_array(mask.astype(float))
    pairs, starts = IgnoredPairs.of(pattern), []
    for operator in (Dense(A), Dense(B), Sparse(sp.csr_array(B)), Gram(X)):
        starts.append(Greedy().factor(objective(operator.without(pattern), pairs), 3))
    for H in starts[1:]:
        assert_allclose(H, starts[0], rtol=1e-9, atol=1e-12)
    assert np.any(starts[0] != Greedy().factor(objective(Dense(np.where(mask, 0, A))), 3))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_nothing_grows_from_nothing(objective):
    assert_array_equal(Greedy().factor(objective(Dense(np.zeros((5, 5)))), 2), 0)


def test_the_random_numbers_are_not_used():
    objective, rng = OffDiagonal(Dense(random_features(20) @ random_features(20).T)), np.random.RandomState(0)
    state = rng.get_state()[1].copy()
    assert_array_equal(Greedy().factor(objective, 2, rng), Greedy().factor(objective, 2))
    assert_array_equal(rng.get_state()[1], state)


@pytest.mark.parametrize("objective", WITHOUT_DIAGONAL)
@pytest.mark.parametrize("diagonal", [0.0, 3.0])
@pytest.mark.parametrize(("start", "picks"), [(GreedyAsPrinted, 2 * 3), (GreedyThroughout, 25)])
def test_as_printed_is_line_by_line(objective, diagonal, start, picks):
    X = random_features(25, seed=4)
    A = X @ X.T
    np.fill_diagonal(A, diagonal)
    found = start().factor(objective(Dense(A)), 3)
    assert_allclose(found, printed_twin(A, 3, objective, picks), rtol=1e-9, atol=1e-12)
    assert np.any(found != Greedy().factor(objective(Dense(A)), 3))


def test_the_shortcut_changes_the_order_of_late_picks():
    A = np.random.default_rng(0).uniform(size=(30, 30))
    A = np.where(A < 0.3, A, 0)
    objective = Absolute(Dense(A + A.T))
    assert np.any(GreedyThroughout().factor(objective, 3) != GreedyAsPrinted().factor(objective, 3))
