"""Algorithm 1: directions against explicit factors, and the step rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import cho_factor, cho_solve

from symclust import registry
from symclust.solvers import Control, State, run
from symclust.solvers import newton as search
from symclust.solvers._base import drive

BY_COLUMNS, WHOLE = ("newton", "newton_by_columns"), ("newton_delayed", "projected_newton")
SEARCHES = (*BY_COLUMNS, *WHOLE, "projected_gradient")


def make(name):
    return registry.resolve("solvers", name)()


def gradient_of(problem, H):
    return problem.objective.gradient(H, problem.operator @ H, H.T @ H)


def held_set(problem, H):
    """E of (12)."""
    return (H <= 1e-16) & (gradient_of(problem, H) > 0)


def direction_of(problem, solver, state):
    found = []

    def ask():
        H = state.H
        gradient = gradient_of(problem, H)
        found.append((yield from solver.direction(problem, state, gradient, held_set(problem, H), H.T @ H)))

    drive(problem.operator, [ask()])
    return found[0]


def explicit_hessian(A, H, sparsity):
    n, k = H.shape
    return np.block([
        [
            4 * ((i == j) * (H @ H.T - A) + np.outer(H[:, j], H[:, i])
                 + (H[:, i] @ H[:, j] + sparsity) * np.eye(n))
            for j in range(k)
        ]
        for i in range(k)
    ])  # fmt: skip


def reduced(M, held):
    """(11): rows and columns of held entries become those of the identity."""
    M = np.where(held[:, None] | held, 0.0, M)
    M[held, held] = 1.0
    return M


@pytest.fixture(params=[0.0, 0.3])
def near_minimiser(request, planted, as_problem, positive):
    """A problem, its sparsity, and a point near a minimiser that has held and free entries."""
    problem = as_problem(planted(n=24, between=0.02), request.param)
    H = run(problem, make("row_descent"), [positive(n=24)], Control(tol=1e-10, max_iter=5000))[0].H
    H = H * np.random.default_rng(1).uniform(0.97, 1.03, size=H.shape)
    held = held_set(problem, H)
    assert 0 < held.sum() < held.size
    return problem, request.param, H


@pytest.mark.parametrize("name", BY_COLUMNS)
def test_newton_direction_is_that_of_explicit_block_factors(name, near_minimiser):
    problem, sparsity, H = near_minimiser
    n, k = H.shape
    gradient, held = gradient_of(problem, H), held_set(problem, H)
    full, expected = explicit_hessian(problem.operator.array, H, sparsity), np.empty_like(H)
    for l in range(k):  # (14)
        block = reduced(full[l * n : (l + 1) * n, l * n : (l + 1) * n], held[:, l])
        expected[:, l] = cho_solve(cho_factor(block), gradient[:, l])
    found = direction_of(problem, make(name), State(H))
    assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", WHOLE)
def test_projected_newton_direction_is_that_of_the_explicit_reduced_hessian(name, near_minimiser):
    problem, sparsity, H = near_minimiser
    gradient, held = gradient_of(problem, H).T.reshape(-1), held_set(problem, H).T.reshape(-1)
    M = reduced(explicit_hessian(problem.operator.array, H, sparsity), held)
    expected = cho_solve(cho_factor(M), gradient).reshape(H.T.shape).T
    found = direction_of(problem, make(name), State(H))
    assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def test_projected_gradient_direction_is_the_gradient(near_minimiser):
    problem, _, H = near_minimiser
    found = direction_of(problem, make("projected_gradient"), State(H))
    assert_array_equal(found, gradient_of(problem, H))


@pytest.mark.parametrize("name", ["newton", "newton_delayed"])
def test_newton_keeps_its_scaling_until_the_active_set_changes(name, planted, as_problem, positive):
    problem, solver, state = as_problem(planted()), make(name), State(positive())
    refreshes, last, point, kept = 0, None, None, 0
    for _ in range(40):
        held = held_set(problem, state.H)
        if last is None or not np.array_equal(held, last):  # (13)
            refreshes, last, point = refreshes + 1, held, state.H
        else:
            kept += 1
        solver.advance(problem, [state])
        assert state.memory["refreshes"] == refreshes
        assert_array_equal(state.memory["held"], last)
        assert state.memory["point"] is point
    assert refreshes > 1
    assert kept > 0


@pytest.mark.parametrize("name", ["newton_by_columns", "projected_newton"])
def test_without_13_the_scaling_is_that_of_the_point(name, planted, as_problem, positive):
    problem, solver, state = as_problem(planted()), make(name), State(positive())
    for number in range(1, 6):
        point = state.H
        solver.advance(problem, [state])
        assert state.memory["refreshes"] == number
        assert state.memory["point"] is point


def test_newton_uses_the_block_of_the_last_refresh(near_minimiser):
    problem, sparsity, H = near_minimiser
    solver, state = make("newton"), State(H)
    direction_of(problem, solver, state)
    held = held_set(problem, H)
    state.H = np.where(held, H, H * 1.01)
    assert_array_equal(held_set(problem, state.H), held)
    found = direction_of(problem, solver, state)
    n = len(H)
    block = explicit_hessian(problem.operator.array, H, sparsity)[:n, :n]  # at the old point
    expected = cho_solve(cho_factor(reduced(block, held[:, 0])), gradient_of(problem, state.H)[:, 0])
    assert_allclose(found[:, 0], expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", SEARCHES)
def test_directions_lower_the_objective_also_where_the_hessian_is_indefinite(
    name, planted, as_problem, positive
):
    problem = as_problem(planted())
    for seed, size in enumerate((0.05, 0.5, 3.0)):
        H = size * positive(seed=seed)
        direction = direction_of(problem, make(name), State(H))
        assert np.sum(direction * gradient_of(problem, H)) > 0


@pytest.mark.parametrize("name", SEARCHES)
def test_accepted_steps_lower_the_objective_enough(name, planted, as_problem, positive):
    problem, solver, state = as_problem(planted()), make(name), State(positive())
    for _ in range(15):
        H = state.H
        gradient, before = gradient_of(problem, H), problem.measure(H, problem.operator @ H)[0]
        solver.advance(problem, [state])
        after = problem.measure(state.H, problem.operator @ state.H)[0]
        wanted = 0.1 * np.sum(gradient * (state.H - H))
        assert after - before <= min(wanted, 0) + 1e-12 * problem.objective.squared_norm
        assert_allclose(state.AH, problem.operator @ state.H)


def test_sizes_are_powers_of_the_reduction(planted, as_problem, positive):
    problem, solver, state = as_problem(planted()), make("newton"), State(positive())
    for _ in range(10):
        solver.advance(problem, [state])
        exponent = np.log(state.memory["size"]) / np.log(search.REDUCTION)
        assert exponent == pytest.approx(round(exponent), abs=1e-9)


def test_projected_gradient_tries_a_little_more_than_its_last_step():
    solver, state, gradient = make("projected_gradient"), State(np.ones((1, 1))), np.full((1, 1), 4e12)
    assert solver.first_step(state, gradient) == pytest.approx(1 / 4e12)  # H changes by all of its length
    state.memory["size"] = 1e-4
    assert solver.first_step(state, gradient) == pytest.approx(1e-3)


def test_a_search_that_finds_nothing_stalls_with_a_reason(planted, as_problem, positive):
    class Uphill(search.ProjectedSearch):
        def direction(self, problem, state, gradient, held, G):
            yield from ()
            return -gradient

    result = run(as_problem(planted()), Uphill(), [positive()], Control())[0]
    assert not result.converged
    assert "no step along the search direction" in result.stop_reason
    assert_array_equal(result.H, positive())


# Conjugate gradients ----------------------------------------------------------------------------------------


def solve_with(matrix_product, gradient, free, axis):
    generator = search.conjugate_gradients(lambda V, AV: matrix_product(V), gradient, free, axis)
    next(generator)
    while True:
        try:
            generator.send(None)
        except StopIteration as done:
            return done.value


def test_columns_are_solved_side_by_side():
    rng = np.random.default_rng(0)
    n, k = 12, 3
    blocks = [C @ C.T + np.eye(n) for C in rng.normal(size=(k, n, n))]
    gradient, free = rng.normal(size=(n, k)), rng.uniform(size=(n, k)) < 0.7

    def product(V):
        return np.stack([M @ v for M, v in zip(blocks, V.T, strict=True)], axis=1)

    found = solve_with(product, gradient, free, 0)
    for l in range(k):
        f = free[:, l]
        expected = gradient[:, l].copy()
        expected[f] = np.linalg.solve(blocks[l][np.ix_(f, f)], gradient[f, l])
        assert_allclose(found[:, l], expected, rtol=1e-4, atol=1e-5)


def test_an_indefinite_matrix_gives_the_gradient():
    gradient = np.random.default_rng(0).normal(size=(5, 2))
    found = solve_with(lambda V: -V, gradient, np.ones((5, 2), bool), None)
    assert_array_equal(found, gradient)


def test_only_the_indefinite_column_falls_back():
    gradient = np.random.default_rng(0).normal(size=(5, 2))
    found = solve_with(lambda V: V * [2.0, -1.0], gradient, np.ones((5, 2), bool), 0)
    assert_allclose(found[:, 0], gradient[:, 0] / 2)
    assert_array_equal(found[:, 1], gradient[:, 1])


def test_held_entries_keep_their_gradient_and_a_zero_gradient_is_no_division_by_zero():
    gradient = np.array([[3.0, 0.0], [1.0, 0.0]])
    found = solve_with(lambda V: 2 * V, gradient, np.array([[False, True], [True, True]]), 0)
    assert_allclose(found, [[3.0, 0.0], [0.5, 0.0]])
