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
