"""Projected gradient on every set: feasible, monotone, stationary, on every form of M."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from symclust import registry
from symclust.constraints import L1, Sparse, Unit, as_constraint
from symclust.exceptions import OptionError
from symclust.objectives import Frobenius
from symclust.operators import Dense, Gram, Shifted
from symclust.operators import Sparse as SparseOperator
from symclust.solvers import Control, Problem, State, run
from symclust.solvers.projected_gradient import ProjectedGradient, lipschitz

N, K = 40, 3


class Shell:
    """A user's own set, not convex: entries of magnitude between 0.1 and 1."""

    def project(self, H):
        return np.where(H < 0, -1, 1) * np.clip(np.abs(H), 0.1, 1)


SETS = [
    *registry.options("constraints"),
    Unit("columns"),
    Sparse(1),
    Sparse(20, "columns"),
    Sparse(60, "all"),
    L1(0.8),
    L1(5.0, "columns"),
    Shell(),
]


def signed(seed=0):
    """Three groups that like each other less than themselves, with noise."""
    rng = np.random.default_rng(seed)
    groups = np.arange(N) * K // N
    A = np.where(groups[:, None] == groups, 1.0, -0.2) + 0.3 * rng.normal(size=(N, N))
    return (A + A.T) / 2


def sparse_form():
    A = signed(1)
    A[np.abs(A) < 0.3] = 0
    return SparseOperator(sp.csr_array(A))


def gram_form():
    rng = np.random.default_rng(2)
    X = np.repeat(np.eye(K), [13, 13, 14], axis=0) @ rng.normal(size=(K, 8)) + 0.2 * rng.normal(size=(N, 8))
    return Gram(X, scale=1 / np.linalg.norm(X, axis=1))


FORMS = {"dense": lambda: Dense(signed()), "sparse": sparse_form, "gram": gram_form}


def make_problem(form, constraint, weight=0.3):
    operator = FORMS[form]()
    M = Shifted(operator, None, weight) if weight else operator
    return Problem(M, Frobenius(M), as_constraint(constraint))


def brute_force(problem, H):
    return np.sum((problem.operator.toarray() - H @ H.T) ** 2)


def start(problem, seed=0):
    level = np.sqrt(np.sqrt(problem.objective.squared_norm / K) / N)
    return problem.constraint.random((N, K), np.random.RandomState(seed), level)


@pytest.mark.parametrize("rule", ["accelerated", "adaptive", "search"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("constraint", SETS, ids=lambda c: str(c).split(" object")[0])
def test_every_iterate_is_feasible_and_none_is_worse_than_the_one_before(constraint, form, rule):
    problem = make_problem(form, constraint)
    solver, state = ProjectedGradient(rule), State(start(problem))
    values = [brute_force(problem, state.H)]
    for _ in range(40):
        solver.advance(problem, [state])
        if state.stalled:
            break
        assert problem.constraint.violation(state.H) <= 1e-10
        values.append(brute_force(problem, state.H))
    assert all(later <= earlier + 1e-10 * values[0] for earlier, later in pairwise(values))
    assert values[-1] < values[0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("constraint", SETS, ids=lambda c: str(c).split(" object")[0])
def test_the_end_is_stationary(constraint, form):
    problem = make_problem(form, constraint)
    result = run(
        problem, ProjectedGradient("accelerated"), [start(problem)], Control(tol=1e-6, max_iter=20_000)
    )[0]
    assert result.converged, result.stop_reason

    # A short projected step goes nowhere, by the gradient of dense algebra.
    def gradient(H):
        return 4 * (H @ (H.T @ H) - problem.operator.toarray() @ H)

    first, H = np.linalg.norm(gradient(start(problem))), result.H
    for t in (1e-4, 1e-5):
        moved = problem.constraint.project(H - t * gradient(H))
        assert np.linalg.norm(moved - H) / t <= 1.2e-6 * first + 1e-14 / t


@pytest.mark.parametrize("rule", ["accelerated", "adaptive"])
def test_the_best_free_factor_is_that_of_eckart_and_young(rule):
    rng = np.random.default_rng(0)
    B = rng.normal(size=(N, N))
    for M in (B @ B.T, (B + B.T) / 2, -B @ B.T - np.eye(N)):
        problem = Problem(Dense(M), Frobenius(Dense(M)), as_constraint("free"))
        control = Control(tol=1e-6, max_iter=20_000)
        result = run(problem, ProjectedGradient(rule), [start(problem)], control)[0]
        values = np.linalg.eigvalsh(M)
        kept = np.maximum(values[-K:], 0)
        expected = np.sum(values**2) - np.sum(kept**2)
        assert result.objective == pytest.approx(expected, rel=1e-6)


def test_the_lipschitz_constant_comes_close_to_that_of_dense_algebra():
    problem = make_problem("dense", "nonnegative")
    solver, state = ProjectedGradient("adaptive"), State(start(problem))
    for _ in range(30):
        solver.advance(problem, [state])
    H, M = state.H, problem.operator.toarray()
    exact = 4 * np.linalg.norm(H @ H.T - M, 2) + 8 * np.linalg.norm(H.T @ H, 2)
    assert 0.9 * exact <= lipschitz(state, H.T @ H) <= exact * (1 + 1e-9)


def test_an_adaptive_step_is_that_of_the_paper():
    problem = make_problem("dense", "nonnegative")
    solver, state = ProjectedGradient("adaptive"), State(start(problem))
    solver.advance(problem, [state])
    H, M = state.H.copy(), problem.operator.toarray()
    L = lipschitz(state, H.T @ H)
    solver.advance(problem, [state])
    expected = np.maximum(H - 4 * (H @ (H.T @ H) - M @ H) / (2 * L), 0)
    np.testing.assert_allclose(state.H, expected, atol=1e-12)


def test_an_accelerated_run_takes_fewer_iterations():
    problem = make_problem("dense", "free")
    control = Control(tol=1e-5, max_iter=5000)
    plain, fast = (
        run(problem, ProjectedGradient(rule), [start(problem)], control)[0]
        for rule in ("adaptive", "accelerated")
    )
    assert fast.objective == pytest.approx(plain.objective, rel=1e-6)
    assert fast.n_iter < 0.7 * plain.n_iter


def test_an_iteration_costs_one_product():
    class Counting(Dense):
        products = 0

        def _product(self, H):
            type(self).products += 1
            return super()._product(H)

    M = Counting(signed())
    problem = Problem(M, Frobenius(M), as_constraint("free"))
    solver, state = ProjectedGradient("accelerated"), State(start(problem))
    solver.advance(problem, [state])
    first = Counting.products
    for _ in range(20):
        solver.advance(problem, [state])
    assert Counting.products - first <= 24  # a few extrapolated steps are dropped


def test_a_curvature_estimated_far_too_small_is_corrected_on_the_way():
    problem = make_problem("dense", "free")
    solver, state = ProjectedGradient("adaptive"), State(start(problem))
    solver.advance(problem, [state])
    state.memory["correction"] = 1e-6  # steps a million times too long
    before = brute_force(problem, state.H)
    solver.advance(problem, [state])
    assert brute_force(problem, state.H) < before


@pytest.mark.parametrize("form", FORMS)
def test_lanczos_steps_have_the_length_of_the_paper(form):
    problem = make_problem(form, "free")
    state, M = State(start(problem)), problem.operator.toarray()
    for _ in range(5):
        H = state.H
        L = 4 * np.linalg.norm(H @ H.T - M, 2) + 8 * np.linalg.norm(H, 2) ** 2  # Proposition 1
        ProjectedGradient("lanczos").advance(problem, [state])
        assert state.memory["correction"] == 1
        np.testing.assert_allclose(state.H, H - 4 * (H @ (H.T @ H) - M @ H) / (2 * L), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("rule", ["accelerated", "adaptive", "lanczos"])
def test_single_precision(rule):
    M = Dense(signed().astype(np.float32))
    problem = Problem(M, Frobenius(M), as_constraint("unit"))
    H0 = start(problem).astype(np.float32)
    result = run(problem, ProjectedGradient(rule), [H0], Control(tol=1e-2, max_iter=2000))[0]
    assert result.H.dtype == np.float32
    assert result.converged, result.stop_reason


def test_unknown_rules_are_refused():
    with pytest.raises(
        OptionError, match=r"step_rule='wild'.*'search', 'accelerated', 'adaptive', 'lanczos'"
    ):
        ProjectedGradient("wild")
