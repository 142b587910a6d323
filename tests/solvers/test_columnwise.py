"""Algorithm 1 of the constrained paper, and the rotation of eigenvectors."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from symclust import registry
from symclust.bounds import smallest_eigenvalue
from symclust.constraints import Unit, as_constraint
from symclust.exceptions import CombinationError, OptionError
from symclust.objectives import Frobenius
from symclust.operators import Dense
from symclust.solvers import Control, Problem, State, run
from symclust.solvers.coupled import Columnwise
from symclust.solvers.procrustes import Procrustes

N, K = 24, 3


def symmetric(kind, seed=0):
    B = np.random.default_rng(seed).normal(size=(N, N))
    return {"definite": B @ B.T / N, "indefinite": (B + B.T) / 2, "negative": -B @ B.T / N - np.eye(N)}[kind]


def make_problem(M, constraint):
    return Problem(Dense(M), Frobenius(Dense(M)), as_constraint(constraint))


def start(constraint, seed=1):
    return as_constraint(constraint).random((N, K), np.random.RandomState(seed), 0.5)


def coupled(M, H, P, mu):
    return np.sum((M - H @ P.T) ** 2) + mu * np.sum((H - P) ** 2)


@pytest.mark.parametrize("constraint", ["free", "nonnegative"])
@pytest.mark.parametrize("kind", ["definite", "indefinite", "negative"])
class TestColumnwise:
    def test_the_coupled_objective_never_rises(self, kind, constraint):
        M = symmetric(kind)
        problem, state, solver = make_problem(M, constraint), State(start(constraint)), Columnwise()
        values = [np.sum((M - state.H @ state.H.T) ** 2)]
        for _ in range(50):
            solver.advance(problem, [state])
            values.append(coupled(M, state.H, state.memory["P"], state.memory["coupling"]))
            assert state.memory["coupled_objective"] == pytest.approx(values[-1], rel=1e-9)
            assert (
                problem.constraint.violation(state.H) == problem.constraint.violation(state.memory["P"]) == 0
            )
        assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(values))

    def test_it_ends_with_equal_factors_at_a_critical_point(self, kind, constraint):
        M = symmetric(kind)
        problem, state, solver = make_problem(M, constraint), State(start(constraint)), Columnwise()
        for _ in range(6000):
            solver.advance(problem, [state])
            if state.memory["gap"] < 1e-12:
                break
        H, P = state.H, state.memory["P"]
        scale = max(np.linalg.norm(H), 1e-3)
        assert np.linalg.norm(H - P) <= 1e-10 * scale
        gradient = 4 * (H @ (H.T @ H) - M @ H)  # of (10)
        kept = gradient if constraint == "free" else np.where(H > 0, gradient, np.minimum(gradient, 0))
        assert np.linalg.norm(kept) <= 1e-7 * np.linalg.norm(M) * scale

    def test_columns_are_the_exact_minimisers(self, kind, constraint):
        M, mu = symmetric(kind), 2.0
        H, P = start(constraint, 1), start(constraint, 2)
        problem, state = make_problem(M, constraint), State(H.copy())
        state.memory["P"] = P.copy()
        Columnwise(mu).advance(problem, [state])
        for i in range(K):  # the same with M̄ formed, column by column
            rest = M - np.delete(H, i, 1) @ np.delete(P, i, 1).T
            H[:, i] = (rest + mu * np.eye(N)) @ P[:, i] / (P[:, i] @ P[:, i] + mu)
            H = problem.constraint.project(H)
            P[:, i] = (rest.T + mu * np.eye(N)) @ H[:, i] / (H[:, i] @ H[:, i] + mu)
            P = problem.constraint.project(P)
        assert_allclose(state.H, H, atol=1e-12)
        assert_allclose(state.memory["P"], P, atol=1e-12)
        assert_allclose(state.AH, M @ H, atol=1e-12)

    def test_the_coupling_is_that_of_corollary_1(self, kind, constraint):
        M, H = symmetric(kind), start(constraint)
        state = State(H.copy())
        Columnwise().advance(make_problem(M, constraint), [state])
        bound = (np.linalg.norm(M) + np.linalg.norm(M - H @ H.T) - np.linalg.eigvalsh(M)[0]) / 2
        assert bound < state.memory["coupling"] <= 1.01 * bound


def test_free_columns_reach_the_value_of_eckart_and_young():
    for kind in ("definite", "indefinite", "negative"):
        M = symmetric(kind)
        result = run(
            make_problem(M, "free"), Columnwise(), [start("free")], Control(tol=1e-8, max_iter=20_000)
        )[0]
        values = np.linalg.eigvalsh(M)
        expected = np.sum(values**2) - np.sum(np.maximum(values[-K:], 0) ** 2)
        assert result.objective == pytest.approx(expected, rel=1e-6)


def test_the_smallest_eigenvalue_is_not_overestimated():
    for kind in ("definite", "indefinite", "negative"):
        M = np.kron(np.eye(4), symmetric(kind))  # 96 rows: by Lanczos
        values = np.linalg.eigvalsh(M)
        found = smallest_eigenvalue(Dense(M))
        assert values[0] - 2.1e-3 * np.abs(values).max() <= found <= values[0]


def test_other_sets_and_couplings_are_refused_by_name():
    with pytest.raises(
        CombinationError, match=r"Columnwise needs.*entrywise.*Unit\(axis='rows'\).*'projected_gradient'"
    ):
        Columnwise().check(make_problem(np.eye(N), Unit()))
    for wrong in ("increasing", 0, -1.0, True):
        with pytest.raises(OptionError, match=r"coupling=.*'auto' or a positive"):
            Columnwise(wrong)


def test_procrustes_finds_an_exact_factor_and_lowers_its_own_distance():
    H = np.random.default_rng(0).uniform(size=(N, K)) * (np.random.default_rng(1).uniform(size=(N, K)) < 0.6)
    A = H @ H.T
    problem, solver = make_problem(A, "nonnegative"), Procrustes()
    result = run(problem, solver, [start("nonnegative")], Control(tol=1e-9, max_iter=500))[0]
    assert result.converged
    assert result.objective <= 1e-10 * np.sum(A**2)
    assert result.H.min() >= 0


def test_procrustes_stops_where_the_rotation_stands_still():
    A = np.abs(symmetric("indefinite"))
    problem = make_problem(A, "nonnegative")
    result = run(problem, Procrustes(), [start("nonnegative")], Control(tol=0.0, max_iter=3000))[0]
    assert result.converged
    assert "the rotation of the eigenvectors stands still" in result.stop_reason
    values, vectors = np.linalg.eigh(A)
    B = vectors[:, -K:] * np.sqrt(np.maximum(values[-K:], 0))
    left, _, right = np.linalg.svd(B.T @ result.H)
    assert_allclose(np.maximum(B @ left @ right, 0), result.H, atol=1e-6)  # a fixed point


@pytest.mark.parametrize("name", registry.options("constraints"))
def test_procrustes_turns_into_every_set(name):
    constraint = as_constraint(name)
    H = constraint.random((N, K), np.random.RandomState(1))
    operator = Dense(H @ H.T)
    problem = Problem(operator, Frobenius(operator), constraint)
    starts = [constraint.random((N, K), np.random.RandomState(seed)) for seed in range(2, 12)]
    results = run(problem, Procrustes(), starts, Control(tol=1e-8, max_iter=500))
    best = min(results, key=lambda result: result.objective)
    assert constraint.violation(best.H) < 1e-12
    assert best.objective < 1e-3 * problem.objective.squared_norm
