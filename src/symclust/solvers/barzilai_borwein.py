"""Projected gradients with Barzilai and Borwein's step lengths, which may let f rise for a while."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.objectives import HasGradient
from symclust.solvers._base import Point, Problem, ProductSolver, State, Steps, known, relative_length, slack

__all__ = ["BarzilaiBorwein"]

REMEMBERED = 10  # values of f, the largest of which a step has to lower
SUFFICIENT = 1e-4  # share of the decrease that the slope promises
LEAST, MOST = 0.1, 0.5  # of a step, how much of it is tried next
SHORTEST = 1e-12  # share of the direction below which the search gives up
RANGE = 1e10  # how much longer or shorter than the first a step may become
FIRST = 0.1  # change of H that the first step would make, as a share of it


class BarzilaiBorwein(ProductSolver):
    """Spectral projected gradient: H ← H + α d with d = P(H − t∇f(H)) − H and a nonmonotone search.

    With s the last change of H and y that of the gradient, t is ⟨s, s⟩/⟨s, y⟩ and ⟨s, y⟩/⟨y, y⟩ in turn: the
    length that fits the curvature along the last step. A step has to lower the largest of the last ten values
    of f; so f may rise from one iteration to the next, but never above where it was ten before. An iteration
    costs one product: that for α < 1 lies between the two that are known.

    References
    ----------
    J. Barzilai and J. M. Borwein, Two-point step size gradient methods, IMA J. of Numerical Analysis 8
    (1988); E. G. Birgin, J. M. Martínez and M. Raydan, Nonmonotone spectral projected gradient methods on
    convex sets, SIAM J. on Optimization 10 (2000); Y.-H. Dai and R. Fletcher, Projected Barzilai-Borwein
    methods for large-scale box-constrained quadratic programming, Numerische Mathematik 100 (2005), for the
    lengths in turn.
    """

    needs: ClassVar[tuple[type, ...]] = (HasGradient,)
    constraint_needs: ClassVar[frozenset[str]] = frozenset({"convex"})
    on_device: ClassVar[bool] = True

    def step(self, problem: Problem, state: State) -> Steps:
        """Find the direction, then how far to go along it."""
        point = Point.at(problem, *(yield from known(state)))
        gradient = point.gradient(problem)
        size = state.H.dtype.type(_step_length(state, gradient))
        trial = problem.constraint.project(state.H - size * gradient)
        slope = _kernels.inner(gradient.reshape(-1), (trial - state.H).reshape(-1))
        if slope < 0:
            whole = Point.at(problem, trial, (yield trial))
            found = _search(problem, state, point, whole, slope)
            if found is not None:
                state.memory["before"] = point.H, gradient
                state.move(found.H, found.AH)
                return
        state.stalled = "no step along the projected gradient lowers the objective by more than rounding"


def _step_length(state: State, gradient: Array) -> float:
    """Step length t, from the last step if there is one and f bends upwards along it."""
    memory = state.memory
    if "before" not in memory:
        memory["length"] = memory["first"] = FIRST * relative_length(state.H, gradient)
        return memory["length"]
    s, y = (now - before for now, before in zip((state.H, gradient), memory["before"], strict=True))
    s, y = s.reshape(-1), y.reshape(-1)
    bend, first = _kernels.inner(s, y), memory["first"]
    memory["turn"] = not memory.get("turn", False)
    if bend <= 0:  # the longer, the better: twice the last, rather than as long as may be
        length = 2 * memory["length"]
    else:
        length = _kernels.inner(s, s) / bend if memory["turn"] else bend / _kernels.inner(y, y)
    memory["length"] = float(np.clip(length, first / RANGE, first * RANGE))
    return memory["length"]


def _search(problem: Problem, state: State, point: Point, whole: Point, slope: float) -> Point | None:
    """The first point on the way that is low enough; AH there follows from those at its ends."""
    values = state.memory.setdefault("values", deque(maxlen=REMEMBERED))
    values.append(point.value)
    alpha, trial = 1.0, whole
    while alpha >= SHORTEST:
        if trial.value <= max(values) + SUFFICIENT * alpha * slope + slack(problem):
            return trial
        # The minimum of the parabola through both values with this slope, within bounds.
        rise = trial.value - point.value - alpha * slope
        best = -slope * alpha**2 / (2 * rise) if rise > 0 else LEAST * alpha
        alpha = float(np.clip(best, LEAST * alpha, MOST * alpha))
        share = point.H.dtype.type(alpha)
        H = point.H + share * (whole.H - point.H)
        trial = Point.at(problem, H, point.AH + share * (whole.AH - point.AH))
    return None
