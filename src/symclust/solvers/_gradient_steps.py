"""Projected gradient steps for any constraint, whose lengths follow from the curvature of the objective."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from symclust import _kernels
from symclust._threads import split
from symclust._types import Array
from symclust.solvers._base import Problem, State, Steps
from symclust.solvers._curvature import lipschitz, multiply_and_estimate, start_estimate

MOST_DOUBLINGS = 60
FORGETTING = 0.9  # how fast a correction of L that was needed once is given up again
ROWS = 4096  # at a time, so that what is computed from them stays in the cache
SUFFICIENT = 1e-4  # share of L ‖H⁺ − H‖² by which an extrapolated step has to lower f


@dataclass
class Point:
    """A matrix, its product with M, its Gram matrix, and the objective there."""

    H: Array
    MH: Array
    G: Array
    value: float

    @classmethod
    def at(cls, problem: Problem, H: Array, MH: Array) -> Point:
        """Evaluate the objective."""
        G = _kernels.gram(H)[0]
        return cls(H, MH, G, problem.objective.value(H, MH, G))

    def gradient(self, problem: Problem) -> Array:
        """Return ∇f = 4(HHᵀH − MH), constrained (22)."""
        return problem.objective.gradient(self.H, self.MH, self.G)


def adaptive_step(problem: Problem, state: State) -> Steps:
    """Constrained Algorithm 2: H ← P(H − ∇f/2L) with L of Proposition 1."""
    point = yield from _current(problem, state)
    yield from _descend(problem, state, point)


def accelerated_step(problem: Problem, state: State) -> Steps:
    """Step from a point extrapolated over the last two; where that does not descend, start anew.

    Y = H + β(H − H₋) with Nesterov's β, and H⁺ = P(Y − ∇f(Y)/L). MY follows from MH and MH₋, so the step
    costs one product. It has to lower f by a multiple of ‖H⁺ − H‖²; otherwise it is dropped, the momentum
    with it, and a step of Algorithm 2 is taken from H: f never rises, and Y need not lie in the set.
    """
    point, memory = (yield from _current(problem, state)), state.memory
    before, theta = memory.get("before"), memory.get("theta", 1.0)
    following = (1 + np.sqrt(1 + 4 * theta**2)) / 2
    memory["before"], memory["theta"] = point, 1.0
    if before is not None and theta > 1:
        trial, squared, forward = yield from _extrapolated(problem, state, before, (theta - 1) / following)
        if trial.value <= point.value - SUFFICIENT * _bound(state, point) * squared:
            memory["theta"] = following if forward else 1.0
            _accept(state, trial)
            return
        following = (1 + np.sqrt(5)) / 2
    memory["theta"] = following
    yield from _descend(problem, state, point)


def _current(problem: Problem, state: State) -> Generator[Array, Array, Point]:
    """Return where the state stands, evaluated at most once."""
    if state.AH is None:
        state.move(state.H, (yield state.H))
    if "vector" not in state.memory:
        yield from start_estimate(state)
    point = state.memory.get("point")
    if point is None or point.H is not state.H:
        assert state.AH is not None
        point = Point.at(problem, state.H, state.AH)
    return point


def _accept(state: State, point: Point) -> None:
    state.memory["point"] = point
    state.memory["correction"] = max(1.0, FORGETTING * state.memory.get("correction", 1.0))
    state.move(point.H, point.MH)


def _bound(state: State, point: Point) -> float:
    return state.memory.get("correction", 1.0) * lipschitz(state, point.G)


def _descend(problem: Problem, state: State, point: Point) -> Steps:
    """Take a step of Algorithm 2, with L doubled as often as it takes for f to fall as Theorem 3 says.

    Proposition 1 leaves out the terms of third and fourth order, and σ_max is estimated from below.
    """
    gradient, L = point.gradient(problem), _bound(state, point)
    eps = np.finfo(np.float64).eps * problem.objective.squared_norm
    slack = 4 * (eps + np.finfo(point.H.dtype).eps * abs(point.value) * (point.H.dtype != np.float64))
    for _ in range(MOST_DOUBLINGS):
        H = problem.constraint.project(point.H - point.H.dtype.type(1 / (2 * L)) * gradient)
        change = (H - point.H).reshape(-1)
        squared = _kernels.inner(change, change)
        if squared == 0.0:
            break
        trial = Point.at(problem, H, (yield from multiply_and_estimate(state, H)))
        if trial.value <= point.value - L / 2 * squared + slack:  # (31)
            _accept(state, trial)
            return
        L *= 2
        state.memory["correction"] = 2 * state.memory.get("correction", 1.0)
    state.stalled = "no step along the projected gradient changes H and lowers the objective"


def _extrapolated(
    problem: Problem, state: State, before: Point, beta: float
) -> Generator[Array, Array, tuple[Point, float, bool]]:
    """Return the step from Y, ‖H⁺ − H‖², and whether H⁺ − H and H⁺ − Y do not point away from each other."""
    point = state.memory["point"]
    H = problem.constraint.project(_step_ahead(problem, point, before, beta, 1 / _bound(state, point)))
    trial = Point.at(problem, H, (yield from multiply_and_estimate(state, H)))
    change = (H - point.H).reshape(-1)
    squared = _kernels.inner(change, change)
    # ⟨Y − H⁺, H⁺ − H⟩ = β⟨H − H₋, H⁺ − H⟩ − ‖H⁺ − H‖²
    along = _kernels.inner(point.H.reshape(-1), change) - _kernels.inner(before.H.reshape(-1), change)
    return trial, squared, beta * along <= squared


def _step_ahead(problem: Problem, point: Point, before: Point, beta: float, size: float) -> Array:
    """Return Y − t∇f(Y) for Y = H + β(H − H₋), some rows at a time: Y and MY as a whole are never needed.

    YᵀY follows from the Gram matrices that are known and one product of H and H₋.
    """
    crossed = (point.H.T @ before.H).astype(np.float64)
    G = (1 + beta) ** 2 * point.G + beta**2 * before.G - beta * (1 + beta) * (crossed + crossed.T)
    out = np.empty_like(point.H)
    for rows in split(len(out), ROWS):
        Y = _ahead(point.H[rows], before.H[rows], beta)
        gradient = problem.objective.gradient(Y, _ahead(point.MH[rows], before.MH[rows], beta), G, rows)
        gradient *= out.dtype.type(-size)
        np.add(Y, gradient, out=out[rows])
    return out


def _ahead(H: Array, before: Array, beta: float) -> Array:
    Y = H - before
    Y *= H.dtype.type(beta)
    Y += H
    return Y
