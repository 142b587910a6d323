"""The loop: why it stops, what it remembers, and how starts leave it."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_info

from symclust import registry
from symclust.objectives import squared
from symclust.operators import Dense
from symclust.solvers import Control, Solver, run
from symclust.solvers import _base as base


class Shrink(Solver):
    """Halves H: never stationary while A has weight."""

    def advance(self, problem, states):
        for state in states:
            state.H, state.AH = state.H / 2, None
            state.move(state.H, problem.operator @ state.H)


class GiveUp(Solver):
    def advance(self, problem, states):
        for state in states:
            state.stalled = "nothing works"


class Counting(Dense):
    """Counts products and their widths."""

    def __init__(self, A):
        super().__init__(A)
        self.widths = []

    def _product(self, H):
        self.widths.append(H.shape[1])
        return super()._product(H)


def row_descent():
    return registry.resolve("solvers", "row_descent")()


def solve(problem, H, solver=None, **control):
    return run(problem, solver or row_descent(), [H.copy()], Control(**control))[0]


@pytest.fixture
def problem(planted, as_problem):
    return as_problem(planted())


# Why it stops -----------------------------------------------------------------------------------------------


def test_converged(problem, positive):
    result = solve(problem, positive(), tol=1e-3)
    assert result.converged
    assert result.stop_reason.startswith("converged: stationarity")
    assert f"after {result.n_iter} iterations (tol 1.0e-03)" in result.stop_reason
    assert result.stationarity <= 1e-3
    assert np.all(result.history.stationarity[1:-1] > 0)


@pytest.mark.parametrize("max_iter", [1, 4])
def test_max_iter(problem, positive, max_iter):
    result = solve(problem, positive(), Shrink(), max_iter=max_iter)
    assert not result.converged
    assert result.n_iter == max_iter
    assert f"max_iter={max_iter}" in result.stop_reason
    assert "tol 1.0e-02" in result.stop_reason


def test_time_limit(problem, positive):
    result = solve(problem, positive(), Shrink(), time_limit=1e-9, max_iter=10**6)
    assert not result.converged
    assert result.n_iter == 1
    assert "time_limit=1e-09 s after 1 iterations" in result.stop_reason


def test_a_time_limit_counts_from_the_clock_it_is_given(problem, positive):
    earlier = time.perf_counter() - 1000
    result = solve(problem, positive(), Shrink(), time_limit=999, clock=earlier, max_iter=10**6)
    assert "time_limit" in result.stop_reason
    assert result.history.seconds[0] >= 1000


def test_convergence_counts_more_than_the_time_limit(problem, positive):
    assert solve(problem, positive(), time_limit=1e-9, tol=0.999).converged


def test_callback_stops_only_with_true_itself(problem, positive):
    seen = []

    def stop_at_second(progress):
        seen.append(progress)
        return progress.iteration == 2

    result = solve(problem, positive(), Shrink(), callback=stop_at_second, max_iter=9)
    assert result.stop_reason == "stopped by the callback after 2 iterations"
    assert not result.converged
    assert [p.iteration for p in seen] == [1, 2]
    assert_array_equal([p.objective for p in seen], result.history.objective[1:])
    # Truthy values that are not True are what callbacks return by accident.
    assert solve(problem, positive(), Shrink(), callback=lambda progress: 1, max_iter=3).n_iter == 3


def test_interrupt_in_the_callback_keeps_the_result(problem, positive):
    def interrupt(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    result = solve(problem, positive(), callback=interrupt, tol=1e-12)
    expected = solve(problem, positive(), max_iter=3, tol=1e-12)
    assert result.stop_reason == "interrupted after 3 iterations; the result so far is kept"
    assert not result.converged
    assert_array_equal(result.H, expected.H)
    assert result.objective == expected.objective


def test_interrupt_inside_a_step_keeps_what_was_there(problem, positive):
    class Interrupted(Shrink):
        def advance(self, problem, states):
            if states[0].H.max() < 0.4:
                raise KeyboardInterrupt
            super().advance(problem, states)

    result = solve(problem, positive(), Interrupted())
    assert result.stop_reason.startswith("interrupted after 2 iterations")
    assert_array_equal(result.H, positive() / 4)


def test_other_errors_of_a_callback_are_not_swallowed(problem, positive):
    def broken(progress):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        solve(problem, positive(), callback=broken)


def test_a_solver_that_cannot_go_on_says_why(problem, positive):
    result = solve(problem, positive(), GiveUp())
    assert "after 1 iterations" in result.stop_reason
    assert result.stop_reason.endswith("nothing works")
    assert not result.converged


def test_zero_similarity_is_stationary_from_the_start(as_problem):
    result = solve(as_problem(np.zeros((5, 5))), np.zeros((5, 2)))
    assert result.converged
    assert result.stop_reason == "stationary from the start"
    assert result.n_iter == 0
    assert result.objective == result.stationarity == 0


def test_an_exact_solution_is_stationary_from_the_start(as_problem):
    H = np.kron(np.eye(3), np.ones((4, 1)))
    result = solve(as_problem(H @ H.T), H, tol=0.0)
    assert result.stop_reason == "stationary from the start"
    assert result.converged
    assert_array_equal(result.H, H)


def test_a_solution_given_as_the_start_is_kept(problem, positive):
    first = solve(problem, positive(), tol=1e-13, max_iter=5000)
    assert first.converged, first.stop_reason
    again = run(problem, row_descent(), [first.H.copy()], Control(tol=1e-4), reference=[first.reference])[0]
    assert again.stop_reason == "stationary from the start"
    assert_array_equal(again.H, first.H)


def test_without_tolerance_it_goes_on_to_rounding(problem, positive):
    # With a solver that knows the product at every point; where the gradient is gathered on the way it is
    # measured exactly only once it looks small enough for `tol`.
    anls = registry.resolve("solvers", "anls")()
    result = solve(problem, positive(), anls, tol=0.0, max_iter=5000)
    assert result.converged, result.stop_reason
    assert "stationary to rounding" in result.stop_reason


# What it remembers ------------------------------------------------------------------------------------------


def test_history(problem, positive):
    result = solve(problem, positive(), tol=1e-6)
    history = result.history
    assert history.dtype.names == ("iteration", "seconds", "objective", "stationarity")
    assert_array_equal(history.iteration, np.arange(result.n_iter + 1))
    assert np.all(np.diff(history.seconds) >= 0)
    assert history.seconds[0] >= 0
    assert history.stationarity[0] == 1
    assert np.all(np.diff(history.objective) <= 1e-12 * history.objective[0])
    assert history.objective[-1] == result.objective
    assert history.stationarity[-1] == result.stationarity


def test_the_last_line_of_the_history_is_exact(problem, positive):
    # Row descent gathers its stationarity on the way; the result must be that of the point itself.
    result = solve(problem, positive(), tol=0.0, max_iter=3)
    objective, gradient = problem.measure(result.H, problem.operator @ result.H)
    assert result.objective == pytest.approx(objective, rel=1e-12)
    assert result.stationarity == pytest.approx(gradient / result.reference, rel=1e-9)


def test_a_point_is_measured_in_blocks_as_in_one_piece(planted, as_problem, positive, monkeypatch):
    problem, H = as_problem(planted(), sparsity=0.3), positive()
    AH = problem.operator @ H
    whole = problem.measure(H, AH)
    monkeypatch.setattr(squared, "MEASURED_ROWS", 7)
    assert_allclose(problem.measure(H, AH), whole, rtol=1e-13)


def test_stationarity_is_relative_to_the_reference(problem, positive):
    own = solve(problem, positive(), max_iter=2, tol=0.0)
    given = run(problem, row_descent(), [positive()], Control(max_iter=2, tol=0.0), [2 * own.reference])[0]
    assert given.stationarity == pytest.approx(own.stationarity / 2)
    assert given.reference == 2 * own.reference


# Starts side by side ----------------------------------------------------------------------------------------


def test_starts_that_are_done_leave_and_the_others_do_not_notice(problem, positive):
    near = solve(problem, positive(seed=5), tol=1e-3).H
    starts = [positive(seed=1), near, positive(seed=2)]
    seen = []
    control = Control(tol=1e-5, max_iter=300, callback=seen.append)
    together = run(problem, row_descent(), [H.copy() for H in starts], control)
    lengths = [result.n_iter for result in together]
    assert len(set(lengths)) > 1
    for number, (H, result) in enumerate(zip(starts, together, strict=True)):
        assert [p.iteration for p in seen if p.start == number] == list(range(1, result.n_iter + 1))
        alone = solve(problem, H, tol=1e-5, max_iter=300)
        assert result.converged
        assert result.n_iter == alone.n_iter
        assert result.objective == pytest.approx(alone.objective, rel=1e-9)


def test_the_callback_stops_all_starts(problem, positive):
    starts = [positive(seed=s) for s in range(3)]
    control = Control(callback=lambda p: p.start == 1 and p.iteration == 2)
    results = run(problem, Shrink(), starts, control)
    assert [r.n_iter for r in results] == [2, 2, 2]
    assert all("callback" in r.stop_reason for r in results)


def test_A_is_read_once_for_all_starts(planted, as_problem, positive):
    problem = as_problem(planted())
    counting = Counting(problem.operator.array)
    problem = type(problem)(counting, type(problem.objective)(counting), problem.constraint)
    starts = [positive(seed=s) for s in range(4)]
    solver = registry.resolve("solvers", "anls")(1.0)
    run(problem, solver, starts, Control(max_iter=3, tol=0.0))
    assert counting.widths == [12] * 4  # the first points, then one product per iteration


def test_products_of_several_factors_are_split_again(problem, positive):
    factors = [positive(k=k, seed=k) for k in (1, 3, 2)]
    for factor, product in zip(factors, base.multiply(problem.operator, factors), strict=True):
        assert_allclose(product, problem.operator @ factor)
        assert product.flags.c_contiguous


def test_coroutines_may_ask_for_different_numbers_of_products(problem):
    asked = []

    def wishes(count):
        x = np.ones((problem.operator.n, 1))
        for _ in range(count):
            x = yield x
        asked.append((count, x))

    base.drive(problem.operator, [wishes(count) for count in (0, 2, 1)])
    A = problem.operator.array
    one = np.ones((len(A), 1))
    expected = {0: one, 1: A @ one, 2: A @ (A @ one)}
    assert sorted(count for count, _ in asked) == [0, 1, 2]
    for count, x in asked:
        assert_allclose(x, expected[count])


def test_blas_is_held_to_one_thread_while_it_runs_and_released_after(problem, positive):
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before, inside = threads(), []
    solve(problem, positive(), Shrink(), max_iter=1, callback=lambda p: inside.extend(threads()))
    assert inside
    assert set(inside) == {1}
    assert threads() == before
