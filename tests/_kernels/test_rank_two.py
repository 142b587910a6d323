"""The loop of rank-2 NMF and the rows of a sparse matrix, beside plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust._kernels import rank_two_nmf
from symclust.hierarchy import Samples


def matrix(seed, n=40, d=30, density=0.3):
    rng = np.random.default_rng(seed)
    return sp.random_array((n, d), density=density, rng=rng, format="csr") + sp.csr_array(np.eye(n, d) * 0.1)


def start(d, seed=0):
    C = np.random.default_rng(seed).random((d, 2))
    return C / np.linalg.norm(C, axis=0)


def solve(G, R):
    """Two-column NNLS by trying the four active sets, row by row."""
    out = np.zeros_like(R)
    for i, r in enumerate(R):
        best = 0.0
        candidates = [np.array([r[0] / G[0, 0], 0]), np.array([0, r[1] / G[1, 1]]), np.linalg.solve(G, r)]
        for x in candidates:
            value = x @ G @ x / 2 - r @ x
            if (x >= 0).all() and value < best:
                best, out[i] = value, x
    return out


def unit(C):
    return C / np.linalg.norm(C, axis=0)


def twin(X, C, n_iter):
    """Return W, C and what the iterates left of |X|² unexplained, W being best for the C before."""
    before, part, left = C, 0.5, []
    for _ in range(n_iter):
        W = solve(C.T @ C, X @ C)
        if left and np.square(X - W @ C.T).sum() > left[-1]:
            part, C = part / 2, before
            W = solve(C.T @ C, X @ C)
        R = solve(W.T @ W, X.T @ W)
        left.append(np.square(X - W @ R.T).sum())
        plain = unit(R)
        C, before = unit(np.maximum(plain + part * (plain - before), 0)), plain
        part = min(1.0, 1.1 * part)
    return solve(plain.T @ plain, X @ plain), plain, left


def compiled(X, C, n_iter, tol=0.0, threads=1):
    samples = Samples.of(X)
    C = np.ascontiguousarray(C[samples.features], dtype=samples.dtype)
    W = np.empty((samples.shape[0], 2), dtype=samples.dtype)
    report = rank_two_nmf(*samples.rows, *samples.transposed, C, W, tol, n_iter, threads)
    full = np.zeros((X.shape[1], 2), dtype=C.dtype)
    full[samples.features] = C
    return W, full, report


@pytest.mark.parametrize("kind, tolerance", [(np.float64, 1e-9), (np.float32, 2e-4)])
@pytest.mark.parametrize("n_iter", [1, 3, 10])
def test_the_loop_is_its_numpy_twin(kind, tolerance, n_iter):
    X = matrix(0).astype(kind)
    W, C, report = compiled(X, start(30), n_iter)
    W_twin, C_twin, _ = twin(X.toarray().astype(np.float64), start(30), n_iter)
    assert W.dtype == kind
    assert report[0] == n_iter
    np.testing.assert_allclose(W, W_twin, atol=tolerance)
    np.testing.assert_allclose(C, C_twin, atol=tolerance)


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_the_objective_falls_and_ends_stationary(seed):
    X = matrix(seed)
    dense = X.toarray()
    values = []
    left = twin(dense, start(30, seed), 7)[2]
    assert (np.diff(left) <= 1e-9).all()
    for n_iter in range(1, 8):
        W, C, report = compiled(X, start(30, seed), n_iter)
        values.append(np.square(dense - W @ C.T).sum())
        assert report[2] == pytest.approx(np.square(dense).sum() - values[-1])
    assert (np.array(values) <= np.array(left) + 1e-9).all()  # the last W is best for the last C
    W, C, _ = compiled(X, start(30, seed), 20_000, tol=1e-7)
    for F, gradient in ((W, (W @ C.T - dense) @ C), (C, (W @ C.T - dense).T @ W)):
        projected = np.where((gradient < 0) | (F > 0), gradient, 0)  # (9)
        assert np.abs(projected).max() < 1e-5


def test_stops_by_the_projected_gradient():
    X = matrix(3)
    n_iter, relative, _ = compiled(X, start(30), 5000, tol=1e-3)[2]
    assert n_iter < 5000
    assert relative <= 1e-3
    assert compiled(X, start(30), n_iter - 1, tol=1e-3)[2][1] > 1e-3


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_threads_do_not_change_a_bit(kind):
    X = sp.random_array((6000, 900), density=0.02, rng=np.random.default_rng(0), format="csr", dtype=kind)
    one, two = (compiled(X, start(900), 5, threads=threads) for threads in (1, 2))
    assert one[2] == two[2]
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def test_a_start_with_one_column_stays_with_one():
    C = start(30)
    C[:, 1] = 0
    W, C, _ = compiled(matrix(0), C, 30)
    assert not W[:, 1].any()
    assert np.isfinite(W).all()
    assert np.isfinite(C).all()


@given(st.integers(0, 10_000), st.integers(0, 40))
@settings(max_examples=30)
def test_taken_rows_are_scipys(seed, size):
    rng = np.random.default_rng(seed)
    X = sp.random_array((40, 25), density=0.1, rng=rng, format="csr")
    whole = Samples.of(X)
    chosen = np.sort(rng.permutation(whole.shape[0])[:size])
    some = whole.take(chosen)
    expected = X.toarray()[np.flatnonzero(np.diff(X.indptr))][chosen]
    assert set(some.features) == set(np.flatnonzero(expected.any(axis=0)))
    np.testing.assert_array_equal(some.csr().toarray(), expected[:, some.features])
    indptr, indices, values = some.transposed
    turned = sp.csr_array((values, indices, indptr), shape=some.shape[::-1])
    np.testing.assert_array_equal(turned.toarray(), expected[:, some.features].T)
    np.testing.assert_array_equal(whole.features[some.columns], some.features)
