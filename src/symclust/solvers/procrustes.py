"""Turn the leading eigenvectors until they are nonnegative, or lie in another set."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust._types import Array
from symclust.exceptions import CombinationError
from symclust.objectives import HasNormalEquations
from symclust.operators import Operator
from symclust.solvers._base import Problem, ProductSolver, State, Steps

__all__ = ["Procrustes"]

TURNS = 10  # rotations per iteration: they cost little beside the product that measures the point
STILL = 1e-9  # change of the rotation, relative to its size, at which it stands still


class Procrustes(ProductSolver):
    """H ← P(BQ), Q ← the rotation that brings B closest to H, with BBᵀ the best A of rank k.

    Symmetric NMF as a Procrustes problem (Huang, Sidiropoulos and Swami 2014; SNMF in constrained tables II
    and III), P(BQ) = max(BQ, 0); another set has its own projection P (leftstochastic, section 6). Every step
    lowers ‖H − BQ‖, not ‖A − HHᵀ‖: if A = HHᵀ for an H of k columns in the set both end at zero, otherwise
    this ends near a stationary point of the objective, rarely in one. After one eigenvalue problem the
    iterations do not need A, except to measure the points.
    """

    def __init__(self) -> None:
        self._embedding: tuple[int, Operator, Array] | None = None

    def check(self, problem: Problem) -> None:
        """Refuse an L1 term too: the rotation does not depend on it."""
        super().check(problem)
        if problem.objective.sparsity:
            raise CombinationError(
                "solver='procrustes' does not support sparsity: leave it out, or choose solver='row_descent'."
            )

    needs: ClassVar[tuple[type, ...]] = (HasNormalEquations,)
    constraint_needs: ClassVar[frozenset[str]] = frozenset()

    def step(self, problem: Problem, state: State) -> Steps:
        """Turn a few times, then measure."""
        B, H = self._embed(problem.operator, state.H.shape[1]), state.H
        Q = None
        for _ in range(TURNS):
            before, Q = Q, _nearest_rotation(B.T @ H)
            H = problem.constraint.project(B @ Q)
            if before is not None and np.linalg.norm(Q - before) <= STILL * np.linalg.norm(Q):
                state.settled = "the rotation of the eigenvectors stands still"
                break
        state.move(H, (yield H))

    def _embed(self, operator: Operator, k: int) -> Array:
        """B = VΛ^½, computed once for all starts."""
        if self._embedding is None or self._embedding[:2] != (k, operator):
            values, vectors = operator.eigsh(k)
            roots = np.sqrt(np.maximum(values, 0)).astype(operator.dtype)
            self._embedding = (k, operator, vectors * roots)
        return self._embedding[2]


def _nearest_rotation(T: Array) -> Array:
    left, _, right = np.linalg.svd(T)
    return left @ right
