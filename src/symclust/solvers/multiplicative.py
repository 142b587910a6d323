"""Multiplicative updates, plain and with rows whose sums stay."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.objectives import HasGradient, HasParts
from symclust.solvers._base import Problem, ProductSolver, State, Steps, known, slack

__all__ = ["Multiplicative"]

# Of `StochasticMultiplicative`: the last is monotone without sums to keep; the first is fastest, and rarely
# rises.
EXPONENTS = (1.0, 0.5, 0.25)


class Multiplicative(ProductSolver):
    """H ← H ∘ (AH / HHᵀH)^¼.

    The exponent ¼ makes the update monotone for every nonnegative A, definite or not. Entries that are zero
    stay zero, so limit points satisfy only part of the optimality conditions; for comparison and for
    teaching.
    """

    needs: ClassVar[tuple[type, ...]] = (HasParts,)
    on_device: ClassVar[bool] = True

    def step(self, problem: Problem, state: State) -> Steps:
        """Scale every entry by the ratio of attraction and repulsion."""
        H, AH = yield from known(state)
        repulsion, attraction = problem.objective.parts(H, AH, _kernels.gram(H)[0])
        ratio = np.divide(attraction, repulsion, out=np.ones_like(H), where=repulsion > 0)
        H = H * np.sqrt(np.sqrt(np.maximum(ratio, 0)))
        state.move(H, (yield H))


class StochasticMultiplicative(ProductSolver):
    """H ← H ∘ ((AH + τ/a) / (HG + b/a))^η, with a = Σ h/(HG), b = Σ h·(AH)/(HG) and τ = Σ h along each row.

    A plain multiplicative update followed by a projection on the simplex stops when the two undo each other,
    at no stationary point: on Aural Sonar at ‖K − PPᵀ/c‖ = 17.7 instead of 17.2. Here the ratio contains the
    Lagrange multiplier of the row's sum, split into its two positive parts (Zhu, Yang and Oja 2013); a change
    of the sum, which is none at a fixed point, is taken back by scaling the row. So fixed points are
    stationary on their support, and no entry becomes zero at once and for ever. Of use on the simplex only,
    and so no option of `SymNMF`.

    Parameters
    ----------
    multipliers : bool, default=True
        False is the update of the paper: without multipliers, and with the projection.
    """

    needs: ClassVar[tuple[type, ...]] = (HasGradient, HasParts)
    constraint_needs: ClassVar[frozenset[str]] = frozenset({"convex"})

    def __init__(self, multipliers: bool = True) -> None:
        self.multipliers = multipliers

    def step(self, problem: Problem, state: State) -> Steps:
        """Scale every entry by the ratio; with a smaller exponent if the objective would rise."""
        H, AH = yield from known(state)
        G = _kernels.gram(H)[0]
        value = problem.objective.value(H, AH, G)
        ratio = self._ratio(H, *problem.objective.parts(H, AH, G))
        for exponent in EXPONENTS:
            trial = H * ratio ** H.dtype.type(exponent)
            if self.multipliers:
                trial *= H.sum(axis=1, keepdims=True) / trial.sum(axis=1, keepdims=True)
            else:
                trial = problem.constraint.project(trial)
            product = yield trial
            lower = problem.objective.value(trial, product, _kernels.gram(trial)[0]) <= value + slack(problem)
            if lower or not self.multipliers:
                state.move(trial, product)
                return
        state.stalled = "the update no longer lowers the objective"

    def _ratio(self, H: Array, repulsion: Array, attraction: Array) -> Array:
        attraction = np.maximum(attraction, 0)  # negative similarities can outweigh the others
        if self.multipliers:
            share = np.divide(H, repulsion, out=np.zeros_like(H), where=repulsion > 0)
            a = np.maximum(share.sum(axis=1, keepdims=True), np.finfo(H.dtype).tiny)
            b = (share * attraction).sum(axis=1, keepdims=True)
            attraction = attraction + H.sum(axis=1, keepdims=True) / a
            repulsion = repulsion + b / a
        return np.divide(attraction, repulsion, out=np.ones_like(H), where=repulsion > 0)
