"""The Newton-like algorithm: search scaled by the diagonal blocks of the Hessian."""

from __future__ import annotations

from collections.abc import Generator
from typing import ClassVar

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.objectives import GivesColumnCurvature, GivesGradient
from symclust.solvers._base import Problem, State
from symclust.solvers._projected_search import ProjectedSearch, conjugate_gradients

__all__ = ["Newton"]


class Newton(ProjectedSearch):
    """Symnmf Algorithm 1 with the block-diagonal scaling (14), refreshed as (13) says.

    Column l of H has its own block of the reduced Hessian. The block is applied through products, A
    included, so nothing of size n × n is formed and a sparse A stays sparse. As long as the active set stays
    the same, so does the block. A block that is not positive definite gives the truncated direction of
    conjugate gradients, at worst the gradient (S = I in the paper).
    """

    needs: ClassVar[tuple[type, ...]] = (GivesGradient, GivesColumnCurvature)

    def direction(
        self, problem: Problem, state: State, gradient: Array, held: Array, G: Array
    ) -> Generator[Array, Array, Array]:
        """Return S∇f(H) for the block-diagonal S."""
        memory = state.memory
        if "held" not in memory or not np.array_equal(memory["held"], held):
            memory["held"], memory["point"] = held, state.H
            memory["refreshes"] = memory.get("refreshes", 0) + 1
        point = memory["point"]
        G_point = G if point is state.H else _kernels.gram(point)[0]

        def curvature(V: Array, AV: Array) -> Array:
            return problem.objective.column_curvature(point, V, AV, G_point)

        return (yield from conjugate_gradients(curvature, gradient, ~held, axis=0))
