"""Multiplicative updates."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust import _kernels
from symclust.objectives import GivesParts
from symclust.solvers._base import Problem, ProductSolver, State, Steps

__all__ = ["Multiplicative"]


class Multiplicative(ProductSolver):
    """H ← H ∘ (AH / HHᵀH)^¼.

    The exponent ¼ makes the update monotone for every nonnegative A, definite or not. Entries that are zero
    stay zero, so limit points satisfy only part of the optimality conditions; for comparison and for
    teaching.
    """

    needs: ClassVar[tuple[type, ...]] = (GivesParts,)

    def step(self, problem: Problem, state: State) -> Steps:
        """Scale every entry by the ratio of attraction and repulsion."""
        if state.AH is None:
            state.move(state.H, (yield state.H))
        H, AH = state.H, state.AH
        assert AH is not None
        repulsion, attraction = problem.objective.parts(H, AH, _kernels.gram(H)[0])
        ratio = np.divide(attraction, repulsion, out=np.ones_like(H), where=repulsion > 0)
        H = H * np.sqrt(np.sqrt(np.maximum(ratio, 0)))
        state.move(H, (yield H))
