"""HALS descends, ends where block pivoting does, and leaves its input alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust.exceptions import OptionError
from symclust.nnls import _hals_by_columns, block_pivoting, hals


def objective(G, R, X):
    return np.sum(0.5 * X @ G * X - R * X, axis=1)


@st.composite
def problems(draw):
    k = draw(st.integers(1, 10))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    C = rng.standard_normal((draw(st.integers(1, 3 * k)), k))
    C[:, rng.random(k) < draw(st.sampled_from([0.0, 0.3]))] = 0
    return C.T @ C, rng.standard_normal((6, len(C))) @ C, rng.random((6, k))


@given(problem=problems())
@settings(max_examples=60)
def test_descends_with_every_sweep(problem):
    G, R, X = problem
    for _ in range(8):
        after = hals(G, R, X)
        before = objective(G, R, X)
        assert np.all(after >= 0)
        assert np.all(objective(G, R, after) <= before + 1e-12 * (1 + np.abs(before)))
        X = after


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 10))
@settings(max_examples=30)
def test_ends_where_block_pivoting_does(seed, k):
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((4 * k + 10, k))
    G, R = C.T @ C, rng.standard_normal((6, len(C))) @ C
    np.testing.assert_allclose(
        hals(G, R, np.zeros_like(R), n_sweeps=500), block_pivoting(G, R), rtol=1e-9, atol=1e-9
    )


def test_several_sweeps_are_single_sweeps_in_a_row():
    rng = np.random.default_rng(0)
    C = rng.standard_normal((30, 7))
    G, R, X = C.T @ C, rng.standard_normal((5, 30)) @ C, rng.random((5, 7))
    once = X
    for _ in range(4):
        once = hals(G, R, once)
    np.testing.assert_allclose(hals(G, R, X, n_sweeps=4), once, rtol=1e-12, atol=1e-12)


@given(problem=problems(), n_sweeps=st.integers(0, 3))
@settings(max_examples=40)
def test_columns_of_arrays_on_a_device_go_the_way_of_rows(problem, n_sweeps):
    G, R, X = problem
    X = X - 0.3  # negative entries count as zero here too
    before = X.copy()
    found = _hals_by_columns(G, R, X, n_sweeps)
    np.testing.assert_allclose(found, hals(G, R, X, n_sweeps), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("method", [hals, lambda G, R, X: _hals_by_columns(G, R, X, 1)])
def test_zero_diagonal_keeps_its_value_unless_zero_is_better(method):
    G = np.array([[2.0, 0.0], [0.0, 0.0]])
    R = np.array([[2.0, 1.0], [2.0, 1.0], [2.0, -1.0], [2.0, 0.0]])
    X = np.array([[0.0, 0.0], [0.0, 3.0], [0.0, 3.0], [0.0, 3.0]])
    np.testing.assert_array_equal(method(G, R, X), [[1, 0], [1, 3], [1, 0], [1, 3]])


def test_negative_entries_of_the_start_count_as_zero():
    G, R = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[3.0, 3.0]])
    np.testing.assert_array_equal(hals(G, R, [[-5.0, -5.0]]), hals(G, R, [[0.0, 0.0]]))


def test_no_sweeps_leave_the_start():
    X = np.array([[-1.0, 2.0]])
    np.testing.assert_array_equal(hals(np.eye(2), [[3.0, 3.0]], X, n_sweeps=0), [[0, 2]])


def test_updates_in_place_only_when_asked():
    G, R, X = np.array([[2.0]]), np.array([[4.0]]), np.array([[0.0]])
    assert hals(G, R, X)[0, 0] == 2
    assert X[0, 0] == 0
    assert hals(G, R, X, out=X) is X
    assert X[0, 0] == 2


def test_refuses_a_negative_number_of_sweeps():
    with pytest.raises(OptionError, match="n_sweeps=-1"):
        hals(np.eye(1), np.ones((1, 1)), np.zeros((1, 1)), n_sweeps=-1)
