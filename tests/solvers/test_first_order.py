"""Barzilai-Borwein steps and extrapolated HALS: their formulas, and what an iteration costs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from symclust.constraints import Simplex
from symclust.objectives import Frobenius
from symclust.operators import Dense
from symclust.solvers import Control, Problem, State, run
from symclust.solvers import barzilai_borwein as spectral
from symclust.solvers.barzilai_borwein import BarzilaiBorwein
from symclust.solvers.coupled import Hals
from symclust.solvers.extrapolated_hals import ExtrapolatedHals


@pytest.fixture
def counted(monkeypatch):
    """Every block that A is multiplied with."""
    blocks, product = [], Dense._product

    def multiply(self, H):
        blocks.append(H.shape[1])
        return product(self, H)

    monkeypatch.setattr(Dense, "_product", multiply)
    return blocks


def gradient_of(A, H):
    return 4 * (H @ (H.T @ H) - A @ H)


def test_lengths_are_those_of_barzilai_and_borwein_in_turn(planted, as_problem, positive):
    A = planted()
    problem, solver, state = as_problem(A), BarzilaiBorwein(), State(positive())
    points, lengths = [state.H], []
    for _ in range(8):
        solver.advance(problem, [state])
        points.append(state.H)
        lengths.append(state.memory["length"])
    checked = 0
    for i in range(1, 8):
        s, y = points[i] - points[i - 1], gradient_of(A, points[i]) - gradient_of(A, points[i - 1])
        bend = np.sum(s * y)
        if bend > 0:
            expected = np.sum(s * s) / bend if i % 2 else bend / np.sum(y * y)
            assert lengths[i] == pytest.approx(expected, rel=1e-8)
            checked += 1
        else:
            assert lengths[i] == pytest.approx(2 * lengths[i - 1])
    assert checked >= 4


def test_an_iteration_takes_one_product_however_often_a_step_is_shortened(
    planted, as_problem, positive, counted, monkeypatch
):
    monkeypatch.setattr(spectral, "FIRST", 1e3)  # far too long a first step
    problem, state = as_problem(planted()), State(positive())
    state.AH = problem.operator @ state.H
    counted.clear()
    BarzilaiBorwein().advance(problem, [state])
    assert counted == [3]
    assert not state.stalled
    assert_allclose(state.AH, problem.operator @ state.H, rtol=1e-10)


def test_barzilai_borwein_descends_in_convex_sets_other_than_the_orthant(planted):
    operator = Dense(planted())
    problem = Problem(operator, Frobenius(operator), Simplex())
    H = Simplex().project(np.random.default_rng(0).random((30, 3)))
    result = run(problem, BarzilaiBorwein(), [H], Control(tol=1e-6, max_iter=500))[0]
    assert result.converged, result.stop_reason
    assert_allclose(result.H.sum(axis=1), 1)


def test_extrapolation_costs_no_product_of_its_own(planted, as_problem, positive, counted):
    problem, solver, state = as_problem(planted()), ExtrapolatedHals(), State(positive())
    solver.advance(problem, [state])
    for _ in range(10):
        counted.clear()
        before = state.memory.get("beta", 0.5)
        solver.advance(problem, [state])
        dropped = state.memory["beta"] < before
        assert len(counted) == 1 + dropped


def test_a_step_is_the_sweep_from_the_extrapolated_point(planted, as_problem, positive):
    A = planted()
    problem, solver, state = as_problem(A), ExtrapolatedHals(coupling=40.0), State(positive())
    solver.advance(problem, [state])
    H, last = state.H.copy(), state.memory["before"][0]
    solver.advance(problem, [state])
    W = H + 0.5 * (H - last)
    G, R = W.T @ W + 40 * np.eye(3), A @ W + 40 * W
    for l in range(3):  # one exact minimisation of each column after the other
        H[:, l] = np.maximum(0, H[:, l] + (R[:, l] - H @ G[:, l]) / G[l, l])
    assert_allclose(state.H, H, rtol=1e-10, atol=1e-12)
    assert state.memory["beta"] == pytest.approx(0.5 * 1.05)


def test_extrapolation_takes_fewer_iterations_than_hals(planted, as_problem, positive):
    problem, control = as_problem(planted(n=60)), Control(tol=1e-5, max_iter=5000)
    plain, ahead = (run(problem, s(), [positive(n=60)], control)[0] for s in (Hals, ExtrapolatedHals))
    assert ahead.converged
    assert ahead.n_iter < plain.n_iter
    assert ahead.objective == pytest.approx(plain.objective, rel=1e-6)


def test_an_increasing_coupling_begins_at_the_largest_eigenvalue(planted, as_problem, positive):
    problem, state = as_problem(planted()), State(positive())
    ExtrapolatedHals("increasing").advance(problem, [state])
    largest = np.linalg.eigvalsh(problem.operator.array)[-1]
    assert state.memory["coupling"] == pytest.approx(largest, rel=0.02)
