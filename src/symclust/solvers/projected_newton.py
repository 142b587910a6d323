"""The projected Newton method: search scaled by the whole reduced Hessian."""

from __future__ import annotations

from collections.abc import Generator
from typing import ClassVar

from symclust._types import Array
from symclust.objectives import GivesCurvature, GivesGradient
from symclust.solvers._base import Problem, State
from symclust.solvers._projected_search import ProjectedSearch, conjugate_gradients

__all__ = ["ProjectedNewton"]


class ProjectedNewton(ProjectedSearch):
    """Symnmf Algorithm 1 with S the inverse of the reduced Hessian (11), applied by conjugate gradients.

    The paper's O(n³k³) a step is the cost of factors; here a step costs a few dozen products with A. Where
    the reduced Hessian is not positive definite the truncated direction is taken, at worst the gradient.
    """

    needs: ClassVar[tuple[type, ...]] = (GivesGradient, GivesCurvature)

    def direction(
        self, problem: Problem, state: State, gradient: Array, held: Array, G: Array
    ) -> Generator[Array, Array, Array]:
        """Return S∇f(H) for the full S."""
        H = state.H

        def curvature(V: Array, AV: Array) -> Array:
            return problem.objective.curvature(H, V, AV, G)

        return (yield from conjugate_gradients(curvature, gradient, ~held, axis=None))
