"""Multiplicative updates."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from symclust import registry
from symclust.solvers import State


def advance(problem, H):
    state = State(H)
    registry.resolve("solvers", "multiplicative")().advance(problem, [state])
    return state.H


def test_the_update_is_the_fourth_root_of_the_ratio(planted, as_problem, positive):
    A, H = planted(), positive()
    assert_allclose(advance(as_problem(A), H), H * (A @ H / (H @ H.T @ H)) ** 0.25, rtol=1e-12)


def test_zeros_stay_and_rows_without_weight_are_no_division_by_zero(planted, as_problem, positive):
    A, H = planted(), positive()
    H[3] = 0
    H[4, 1] = 0
    A[5] = A[:, 5] = 0
    found = advance(as_problem(A), H)
    assert np.all(np.isfinite(found))
    assert_array_equal(found[3], 0)
    assert found[4, 1] == 0
    assert_array_equal(found[5], 0)
