"""Two coupled factors: the weight of the coupling, and what its steps do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from symclust import registry
from symclust.exceptions import OptionError
from symclust.operators import Dense
from symclust.solvers import Control, State, run
from symclust.solvers.coupled import GROWTH, largest_eigenvalue

COUPLED = ("anls", "hals")


def make(name, *arguments):
    return registry.resolve("solvers", name)(*arguments)


@pytest.mark.parametrize("seed", range(5))
def test_largest_eigenvalue_to_two_digits(planted, seed):
    A = planted(n=40, k=4, seed=seed)
    assert largest_eigenvalue(Dense(A)) == pytest.approx(np.linalg.eigvalsh(A)[-1], rel=0.02)


def test_largest_eigenvalue_of_nothing_is_a_usable_weight():
    assert largest_eigenvalue(Dense(np.zeros((3, 3)))) == 1.0


def test_a_step_of_anls_solves_its_least_squares_problem(planted, as_problem, positive):
    A, W, alpha = planted(n=12), positive(n=12), 0.8
    state = State(W)
    make("anls", alpha).advance(as_problem(A), [state])
    # (16): min ‖[W; √α I] Hᵀ − [A; √α Wᵀ]‖ over H ≥ 0, a column of Hᵀ at a time.
    left = np.vstack([W, np.sqrt(alpha) * np.eye(3)])
    right = np.vstack([A, np.sqrt(alpha) * W.T])
    expected = np.stack([nnls(left, column)[0] for column in right.T])
    assert_allclose(state.H, expected, rtol=1e-8, atol=1e-9)
    assert_allclose(state.AH, A @ state.H)
    coupled = np.sum((A - W @ state.H.T) ** 2) + alpha * np.sum((W - state.H) ** 2)
    assert state.memory["coupled_objective"] == pytest.approx(coupled)
    assert state.memory["gap"] == pytest.approx(np.linalg.norm(W - state.H) / np.linalg.norm(state.H))


@pytest.mark.parametrize("name", COUPLED)
@pytest.mark.parametrize("coupling", [0.3, 3.0, 30.0])
def test_every_weight_ends_at_a_stationary_point_with_equal_factors(
    name, coupling, planted, as_problem, positive
):
    problem = as_problem(planted())
    result = run(problem, make(name, coupling), [positive()], Control(tol=1e-5, max_iter=5000))[0]
    assert result.converged, result.stop_reason
    state = State(result.H)
    make(name, coupling).advance(problem, [state])
    assert state.memory["gap"] < 1e-4


@pytest.mark.parametrize("name", COUPLED)
def test_increasing_weights_grow_while_factors_drift_apart(name, planted, as_problem, positive):
    A = planted()
    problem, solver, state = as_problem(A), make(name, "increasing"), State(positive())
    state.memory["coupling"] = 1e-3 * np.linalg.eigvalsh(A)[-1]  # far too small: W and H take turns
    factors, weights = [state.H], [state.memory["coupling"]]
    for _ in range(3000):
        solver.advance(problem, [state])
        factors.append(state.H)
        weights.append(state.memory["coupling"])
        if state.memory["gap"] < 1e-8:
            break
    assert state.memory["gap"] < 1e-8
    for V, W, H, before, after in zip(
        factors, factors[1:], factors[2:], weights[1:], weights[2:], strict=False
    ):
        apart = np.linalg.norm(H - W)
        turns_back = np.linalg.norm(H - V) < apart and apart >= 1e-8 * np.linalg.norm(H)
        assert after == pytest.approx(GROWTH * before if turns_back else before, rel=1e-12)
    assert weights[-1] > 2 * weights[0]


@pytest.mark.parametrize("name", ["anls", "hals"])
@pytest.mark.parametrize("seed", range(4))
def test_increasing_weights_do_not_end_the_descent(name, seed, planted, as_problem, positive):
    problem, control = as_problem(planted(n=60, k=4, seed=seed)), Control(tol=1e-5, max_iter=4000)
    start = positive(n=60, k=4, seed=seed)
    fixed, grown = (run(problem, make(name, way), [start], control)[0] for way in ("auto", "increasing"))
    assert fixed.converged
    assert grown.converged, grown.stop_reason
    assert grown.n_iter <= 4 * fixed.n_iter
    state = State(grown.H)
    make(name, "increasing").advance(problem, [state])
    assert state.memory["gap"] < 1e-3
    assert grown.objective <= 1.05 * fixed.objective


def test_increasing_weights_begin_at_a_tenth_of_the_largest_eigenvalue(planted, as_problem, positive):
    problem, state = as_problem(planted()), State(positive())
    make("anls", "increasing").advance(problem, [state])
    largest = np.linalg.eigvalsh(problem.operator.array)[-1]
    assert state.memory["coupling"] == pytest.approx(largest / 10, rel=0.02)


@pytest.mark.parametrize("name", COUPLED)
def test_the_automatic_weight_has_the_scale_of_A(name, planted, as_problem, positive):
    # H scales with the root of A: the whole run must look the same in other units.
    A, control = planted(), Control(tol=0.0, max_iter=5)
    one = run(as_problem(A), make(name), [positive()], control)[0]
    scaled = run(as_problem(10000.0 * A), make(name), [100.0 * positive()], control)[0]
    assert_allclose(scaled.H, 100 * one.H, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", COUPLED)
@pytest.mark.parametrize("coupling", [0, -1.0, "growing", float("nan")])
def test_weights_that_mean_nothing_are_refused(name, coupling):
    with pytest.raises(OptionError, match=f"coupling={coupling!r}"):
        make(name, coupling)
