"""Block pivoting and the active set against scipy.optimize.nnls on the stacked problem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from symclust.nnls import active_set, block_pivoting

METHODS = [block_pivoting, active_set]


def violation(G, R, X):
    """Largest violation of y ≥ 0 and xᵀy = 0, where |y_j| is measured in |r_j| + √G_jj Σ √G_ll x_l."""
    G, R, X = (np.asarray(a, dtype=np.float64) for a in (G, R, X))
    root = np.sqrt(np.diag(G))
    Y = X @ G - R
    scale = np.abs(R) + np.outer(X @ root, root) + np.finfo(float).tiny
    return np.max(np.where(X > 0, np.abs(Y), np.maximum(-Y, 0)) / scale, initial=0)


@st.composite
def stacked_problems(draw, full_rank):
    """C (m × k), right-hand sides b and a start; tall and well conditioned, or of any shape and rank."""
    k = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if full_rank:
        C = rng.standard_normal((draw(st.integers(3 * k, 4 * k + 5)), k))
    else:
        rank = draw(st.integers(1, k))
        C = rng.integers(-2, 4, (draw(st.integers(1, 2 * k)), rank)) @ rng.integers(0, 3, (rank, k))
    B = rng.standard_normal((5, len(C))) + draw(st.sampled_from([0.0, 1.0]))
    X = rng.random((5, k)) * (rng.random((5, k)) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    scales = 10.0 ** rng.integers(-draw(st.sampled_from([0, 2])), 1, k)
    return C * scales, B, X


def check_residuals(C, B, solution):
    """SciPy's residuals, or less: 1.17 misses the minimum of one in ten thousand problems of low rank."""
    G, R = normal_equations(C, B, np.float64)
    expected = np.array([nnls(C, b)[0] for b in B])
    theirs, ours = (np.sum((X @ C.T - B) ** 2, axis=1) for X in (expected, solution))
    solved = [violation(G, r[None], x[None]) < 1e-10 for r, x in zip(R, expected, strict=True)]
    tolerance = 1e-9 * np.sum(B**2)
    assert np.all(ours <= theirs + tolerance)
    np.testing.assert_allclose(ours[solved], theirs[solved], rtol=0, atol=tolerance)


def normal_equations(C, B, dtype):
    return (C.T @ C).astype(dtype), (B @ C).astype(dtype)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-8), (np.float32, 1e-2)])
@given(problem=stacked_problems(full_rank=True))
@settings(max_examples=40)
def test_equals_scipy_where_the_solution_is_unique(method, dtype, rtol, problem):
    C, B, X = problem
    G, R = normal_equations(C, B, dtype)
    expected = np.array([nnls(C, b)[0] for b in B])
    scale = np.abs(expected).max(axis=0) + 1 / np.sqrt(np.diag(C.T @ C))
    for start in (None, X):
        solution = method(G, R, start)
        assert solution.dtype == dtype
        assert np.all(solution >= 0)
        np.testing.assert_allclose(solution / scale, expected / scale, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("method", METHODS)
@given(problem=stacked_problems(full_rank=False))
@settings(max_examples=60)
def test_reaches_the_objective_of_scipy_where_it_is_not(method, problem):
    C, B, X = problem
    G, R = normal_equations(C, B, np.float64)
    for start in (None, X):
        solution = method(G, R, start)
        assert np.all(solution >= 0)
        assert violation(G, R, solution) < 1e-10
        check_residuals(C, B, solution)


@pytest.mark.parametrize("method", METHODS)
@given(problem=stacked_problems(full_rank=False))
@settings(max_examples=60)
def test_float32_meets_the_conditions_to_its_own_rounding(method, problem):
    C, B, X = problem
    G, R = normal_equations(C, B, np.float32)
    for start in (None, X):
        solution = method(G, R, start)
        assert solution.dtype == np.float32
        assert np.all(solution >= 0)
        assert violation(G, R, solution) < 1e-3


@pytest.mark.parametrize("method", METHODS)
@given(problem=stacked_problems(full_rank=True))
@settings(max_examples=40)
def test_warm_start_gives_the_answer_of_a_cold_start(method, problem):
    C, B, X = problem
    G, R = normal_equations(C, B, np.float64)
    cold = method(G, R)
    for start in (X, cold, np.ones_like(X)):
        np.testing.assert_allclose(method(G, R, start), cold, rtol=1e-8, atol=1e-8 * np.abs(cold).max())


@st.composite
def factors(draw):
    """Nonnegative C with many zeros, and columns that are zero or repeated, as factorizations make them."""
    k, m = draw(st.integers(2, 10)), draw(st.integers(2, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    C = rng.random((m, k)) * (rng.random((m, k)) < 0.4)
    C[:, rng.integers(0, k)] = draw(st.sampled_from([0.0, 1.0])) * C[:, rng.integers(0, k)]
    return C, rng.random((6, m)) * (rng.random((6, m)) < 0.5)


@pytest.mark.parametrize("method", METHODS)
@given(problem=factors())
@settings(max_examples=60)
def test_columns_of_a_factorization_are_fitted_as_scipy_does(method, problem):
    C, B = problem
    G, R = normal_equations(C, B, np.float64)
    warm = method(G, R)
    for solution in (warm, method(G, R, warm), method(G, R, np.ones_like(R))):
        assert np.all(solution >= 0)
        assert violation(G, R, solution) < 1e-10
        check_residuals(C, B, solution)
