"""Every nonnegative least squares kernel against a plain NumPy version of the same method."""

import numpy as np
import pytest

from symclust import _kernels

SIZES = [1, 2, 7, 8, 9, 20]
TOLERANCE = {np.float32: 2e-3, np.float64: 1e-9}


def passive_solution(G, r, F):
    x = np.zeros(len(r))
    x[F] = np.linalg.solve(G[np.ix_(F, F)], r[F])
    return x, G @ x - r


def block_pivoting_twin(G, r, F, full_exchanges=3):
    """Return the solution, how many exchanges it took, and whether the backup rule was needed."""
    fewest, chances, exchanges, backup = len(r) + 1, full_exchanges, 0, False
    while True:
        x, y = passive_solution(G, r, F)
        infeasible = np.where(F, x < 0, y < -1e-12 * (1 + np.abs(r)))
        count = infeasible.sum()
        if count == 0:
            return x, exchanges, backup
        fewest, chances = (count, full_exchanges) if count < fewest else (fewest, chances - 1)
        if chances < 0:
            backup = True
            infeasible[: np.flatnonzero(infeasible)[-1]] = False
        F = F ^ infeasible
        exchanges += 1


def active_set_twin(G, r):
    x, F = np.zeros(len(r)), np.zeros(len(r), dtype=bool)
    while True:
        slope = np.where(F, -np.inf, (r - G @ x) / np.sqrt(np.diag(G)))
        if slope.max() <= 1e-12 * (1 + np.abs(r).max()):
            return x
        F[slope.argmax()] = True
        s, _ = passive_solution(G, r, F)
        while s[F].min() < 0:
            ratios = np.where(F & (s < 0), x / np.where(x > s, x - s, 1), np.inf)
            x = x + ratios.min() * (s - x)
            x[ratios.argmin()] = 0
            F &= x > 0
            s, _ = passive_solution(G, r, F)
        x = s


def hals_twin(G, R, X, n_sweeps):
    X = np.maximum(X, 0)
    for _ in range(n_sweeps):
        for l in range(len(G)):
            X[:, l] = np.maximum(0, X[:, l] + (R[:, l] - X @ G[:, l]) / G[l, l])
    return X


def problem(k, dtype, seed=0, n=60):
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((3 * k, k))
    R = rng.standard_normal((n, 3 * k)) @ C
    X = rng.random((n, k)) * (rng.random((n, k)) < 0.5)
    return tuple(np.ascontiguousarray(a, dtype=dtype) for a in (C.T @ C, R, X))


def run(kernel, G, R, X, *bounds):
    out = np.full_like(R, np.nan)
    kernel(G, R, X, out, *bounds)
    return out


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("k", SIZES)
def test_block_pivoting_equals_its_twin(k, dtype):
    G, R, X = problem(k, dtype)
    expected = [
        block_pivoting_twin(G.astype(float), r.astype(float), x > 0)[0] for r, x in zip(R, X, strict=True)
    ]
    np.testing.assert_allclose(
        run(_kernels.nnls_block_pivoting, G, R, X), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype]
    )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("k", SIZES)
def test_active_set_equals_its_twin(k, dtype):
    G, R, X = problem(k, dtype, seed=1)
    expected = [active_set_twin(G.astype(float), r.astype(float)) for r in R]
    for start in (np.zeros_like(X), X):
        np.testing.assert_allclose(
            run(_kernels.nnls_active_set, G, R, start), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype]
        )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n_sweeps", [0, 1, 3])
@pytest.mark.parametrize("k", SIZES)
def test_hals_equals_its_twin(k, n_sweeps, dtype):
    G, R, X = problem(k, dtype, seed=2)
    expected = hals_twin(G.astype(float), R.astype(float), X.astype(float), n_sweeps)
    tolerance = 1e-4 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(
        run(_kernels.nnls_hals, G, R, X, n_sweeps), expected, rtol=tolerance, atol=tolerance
    )


def test_the_result_may_replace_the_start():
    G, R, X = problem(9, np.float64)
    for kernel in (_kernels.nnls_block_pivoting, _kernels.nnls_active_set, _kernels.nnls_hals):
        expected, replaced = run(kernel, G, R, X), X.copy()
        kernel(G, R, replaced, replaced)
        np.testing.assert_array_equal(replaced, expected)


def test_backup_rule_ends_a_cycle_of_full_exchanges():
    C = np.array(
        [[1, -2, -3, -1, 0], [1, 3, -2, -2, 2], [-2, 0, 3, -1, -1], [0, -3, 2, 2, -1], [1, 2, -1, 2, 1.0]]
    )
    G, r, start = C.T @ C, np.array([6.0, 0, 8, -1, 9]), np.array([0.0, 0, 1, 0, 0])
    expected, exchanges, backup = block_pivoting_twin(G, r, start > 0)
    assert backup
    # No steps for the active set: the answer can only be exact if the exchanges alone found it.
    X = run(_kernels.nnls_block_pivoting, G, r[None], start[None], exchanges, 0)
    np.testing.assert_allclose(X[0], expected, rtol=1e-12)
    np.testing.assert_array_equal(X, run(_kernels.nnls_block_pivoting, G, r[None], X))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("bounds", [(0, 10), (1, 10), (0, 0)])
def test_what_stands_behind_the_bounds_solves_too(bounds, dtype):
    # (0, 10): no exchange, so the active set does all; (0, 0): no entry either, so coordinate descent does.
    G, R, X = problem(12, dtype, seed=3)
    expected = [active_set_twin(G.astype(float), r.astype(float)) for r in R]
    tolerance = 2e-3 if dtype is np.float32 else 1e-8
    np.testing.assert_allclose(
        run(_kernels.nnls_block_pivoting, G, R, X, *bounds), expected, rtol=tolerance, atol=tolerance
    )
