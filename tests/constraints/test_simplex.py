"""Projection on the simplex and the measure of stationarity on it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from symclust.constraints import Simplex, project_simplex

NUMBERS = st.floats(-10, 10, allow_subnormal=False)
ROWS = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(lambda s: arrays(float, s, elements=NUMBERS))


@settings(max_examples=60)
@given(ROWS, st.floats(0.1, 5))
def test_projection_is_feasible_and_satisfies_the_optimality_conditions(Q, total):
    P = project_simplex(Q, total)
    assert P.min() >= 0
    assert_allclose(P.sum(axis=1), total, rtol=1e-12)
    # q − p is θ on the support and at most θ elsewhere.
    for q, p in zip(Q, P, strict=True):
        theta = (q - p)[p > 0]
        assert np.ptp(theta) < 1e-12
        assert np.all((q - p)[p == 0] <= theta.max() + 1e-12)


def test_projection_against_brute_force():
    q = np.array([0.8, -0.3, 0.9, 0.1])
    found = minimize(
        lambda p: np.sum((p - q) ** 2),
        np.full(4, 0.25),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        tol=1e-14,
    )
    assert_allclose(project_simplex(q[None])[0], found.x, atol=1e-6)


def test_batches_of_matrices_and_single_precision():
    Q = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
    P = project_simplex(Q)
    assert P.dtype == np.float32
    for one, whole in zip(Q, P, strict=True):
        np.testing.assert_array_equal(project_simplex(one), whole)


def test_stationarity_vanishes_where_the_conditions_hold_and_only_there():
    simplex = Simplex()
    H = np.array([[0.5, 0.5, 0.0]])
    assert_allclose(simplex.projected_gradient(H, np.array([[2.0, 2.0, 3.0]])), 0, atol=1e-15)
    for gradient in ([2.0, 1.0, 3.0], [2.0, 2.0, 1.0]):
        assert np.linalg.norm(simplex.projected_gradient(H, np.array([gradient]))) > 0.5


@pytest.mark.parametrize(("row", "expected"), [([0.5, 0.5], 0), ([1.5, -0.5], 0.5), ([1.0, 1.0], 1)])
def test_violation(row, expected):
    assert Simplex().violation(np.array([row])) == expected
