"""Degenerate problems, wrong input, and bits that do not depend on threads."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from symclust import _kernels, registry
from symclust.exceptions import InputError
from symclust.nnls import active_set, block_pivoting, hals, rank_two

SOLVERS = [block_pivoting, active_set]


def zero_start_hals(G, R):
    return hals(G, R, np.zeros_like(R), n_sweeps=50)


METHODS = [*SOLVERS, zero_start_hals]


def test_the_registry_finds_every_method():
    assert registry.options("nnls") == ("active_set", "block_pivoting", "hals", "rank_two")
    assert registry.resolve("nnls", "block_pivoting") is block_pivoting


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", METHODS)
class TestDegenerate:
    def test_zero_matrix(self, method, dtype):
        X = method(np.zeros((3, 3), dtype), np.array([[1, 0, -1]], dtype))
        np.testing.assert_array_equal(X, np.zeros((1, 3)))

    def test_nonpositive_right_hand_sides(self, method, dtype):
        R = -np.arange(6, dtype=dtype).reshape(2, 3)
        np.testing.assert_array_equal(method(np.eye(3, dtype=dtype) + 1, R), np.zeros((2, 3)))

    def test_one_variable(self, method, dtype):
        X = method(np.array([[4]], dtype), np.array([[8], [-8], [0]], dtype))
        np.testing.assert_allclose(X, [[2], [0], [0]], rtol=1e-6)

    def test_no_rows(self, method, dtype):
        assert method(np.eye(3, dtype=dtype), np.empty((0, 3), dtype)).shape == (0, 3)

    def test_a_zero_column_does_not_disturb_the_others(self, method, dtype):
        G = np.diag(np.array([2, 0, 4], dtype))
        np.testing.assert_allclose(method(G, np.array([[2, 0, 4]], dtype)), [[1, 0, 1]], rtol=1e-6)

    def test_unbounded_problems_end_with_finite_values(self, method, dtype):
        rng = np.random.default_rng(0)
        for rank in (0, 1, 4, 9):
            C = rng.standard_normal((rank, 10))
            X = method((C.T @ C).astype(dtype), rng.standard_normal((50, 10)).astype(dtype))
            assert np.all(np.isfinite(X))
            assert np.all(X >= 0)


@pytest.mark.parametrize("method", SOLVERS)
def test_bounded_although_outside_the_range(method):
    # ½(x₁ + x₂)² − x₁ − 2x₂ has its minimum at (0, 2); from (1, 0) the way leads along x₁ + x₂ = 1.
    G, R = np.ones((2, 2)), np.array([[1.0, 2.0]])
    for start in (None, [[1.0, 0.0]], [[1.0, 1.0]], [[0.0, 1.0]]):
        np.testing.assert_allclose(method(G, R, start), [[0, 2]], atol=1e-12)


def test_a_fall_that_is_rounding_does_not_bound_a_line():
    # Raising x₂ with x₁ lowers the objective for ever; x₃ falls along that line by 1e-17 only.
    G = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 1e-17], [0.0, 1e-17, 1.0]])
    np.testing.assert_allclose(active_set(G, [[1.0, 1.0, 5.0]]), [[1, 0, 5]])


@pytest.mark.parametrize("method", SOLVERS)
def test_badly_scaled_variables_are_not_taken_for_dependent_ones(method):
    rng = np.random.default_rng(0)
    scale = 10.0 ** np.array([0, -9, 5, -4, 8])
    C = rng.random((20, 5))
    X = rng.random((4, 5)) + 0.1
    solution = method(C.T @ C * np.outer(scale, scale), X @ C.T @ C * scale)
    np.testing.assert_allclose(solution * scale, X, rtol=1e-8)


def test_types():
    G, R = np.eye(2, dtype=np.float32), np.ones((1, 2), dtype=np.float32)
    assert block_pivoting(G, R).dtype == np.float32
    assert block_pivoting(G, R.astype(float)).dtype == np.float64
    assert block_pivoting(G.astype(int), R.astype(bool)).dtype == np.float64
    assert block_pivoting(G, R, np.ones((1, 2))).dtype == np.float32


def test_order_in_memory_does_not_matter():
    rng = np.random.default_rng(0)
    C = rng.random((9, 4))
    G, R = C.T @ C, rng.standard_normal((6, 4))
    X = block_pivoting(G, R)
    np.testing.assert_array_equal(block_pivoting(G, np.asfortranarray(R), np.asfortranarray(X)), X)


@pytest.mark.parametrize("method", [*SOLVERS, rank_two])
def test_out_receives_the_solution(method):
    G, R = np.eye(2) * 2, np.array([[2.0, -2.0]])
    out = np.full((1, 2), np.nan)
    assert method(G, R, out=out) is out
    np.testing.assert_allclose(out, [[1, 0]])


def read_only(shape):
    array = np.ones(shape)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("method", [block_pivoting, active_set, hals])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"G": np.ones((2, 3))}, r"G has shape \(2, 3\)"),
        ({"G": np.ones(2)}, r"G has shape \(2,\); expected a square matrix"),
        ({"G": np.ones((2, 2, 2))}, r"G has shape \(2, 2, 2\)"),
        ({"R": np.ones((4, 3))}, r"R has shape \(4, 3\); expected \(n, 2\)"),
        ({"R": np.ones(2)}, r"R has shape \(2,\)"),
        ({"R": np.ones((4, 2, 1))}, r"R has shape \(4, 2, 1\)"),
        ({"X": np.ones((3, 2))}, r"X has shape \(3, 2\); expected the shape of R, \(4, 2\)"),
        ({"out": np.ones((4, 1))}, r"out has shape \(4, 1\)"),
        ({"out": np.ones((4, 2), dtype=np.float32)}, "out has .* dtype float32"),
        ({"out": np.ones((2, 4)).T}, "C order"),
        ({"out": read_only((4, 2))}, "a writeable array"),
    ],
)
def test_wrong_arrays_are_named(method, arguments, message):
    given = {"G": np.eye(2), "R": np.ones((4, 2)), "X": np.ones((4, 2)), **arguments}
    with pytest.raises(InputError, match=message):
        method(**given)


def solutions():
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        for rank in (12, 30):
            C = rng.random((rank, 17)).astype(dtype)
            G, R = C.T @ C, rng.standard_normal((3000, rank)).astype(dtype) @ C
            X = (rng.random(R.shape) * (rng.random(R.shape) < 0.3)).astype(dtype)
            yield from (block_pivoting(G, R), block_pivoting(G, R, X), active_set(G, R, X), hals(G, R, X))


def test_bits_do_not_depend_on_the_number_of_threads():
    runs = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads, user_api="openmp"), threadpool_limits(1, user_api="blas"):
            assert _kernels.max_threads() == threads
            runs.append([solution.tobytes() for solution in solutions()])
    assert runs[0] == runs[1] == runs[2]
