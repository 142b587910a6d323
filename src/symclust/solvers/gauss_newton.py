"""Projected Gauss-Newton: the curvature of a perfect fit, inverted by conjugate gradients without A."""

from __future__ import annotations

from collections.abc import Generator
from typing import ClassVar

from symclust._types import Array
from symclust.objectives import HasCurvature, HasGradient
from symclust.solvers._base import Problem, State
from symclust.solvers.newton import ProjectedSearch, conjugate_gradients

__all__ = ["GaussNewton"]

ACCURACY = 1e-2  # of a direction: the rest is less than the error of the Gauss-Newton model
MOST_STEPS = 40  # of conjugate gradients; each costs n k², and none a product with A


class GaussNewton(ProjectedSearch):
    """Symnmf Algorithm 1 with S the inverse of the reduced Gauss-Newton matrix JᵀJ.

    J is the derivative of A − HHᵀ, so that JᵀJ[V] = 4(VHᵀH + HVᵀH): the Hessian of f if A = HHᵀ, which
    leaves out the misfit. It is never negative, and A is not in it. A step costs one product with A for each
    step size tried, like a gradient step, and a few dozen products of H with k × k matrices. f never rises.

    Directions that turn the columns of H into each other do not change HHᵀ: JᵀJ is singular. The gradient has
    no part in them, and conjugate gradients that start from zero stay out of them.

    References
    ----------
    S. Eswar, K. Hayashi, G. Ballard, R. Kannan, R. Vuduc and H. Park, Distributed-memory parallel symmetric
    nonnegative matrix factorization, SC20 (2020), which inverts the same matrix by conjugate gradients; D. P.
    Bertsekas, Projected Newton methods for optimization problems with simple constraints, SIAM J. on Control
    and Optimization 20 (1982).
    """

    needs: ClassVar[tuple[type, ...]] = (HasGradient, HasCurvature)

    def direction(
        self, problem: Problem, state: State, gradient: Array, held: Array, G: Array
    ) -> Generator[Array, Array, Array]:
        """Return S∇f(H) without asking for a product."""
        yield from ()
        H = state.H

        def curvature(V: Array, fitted: Array) -> Array:
            return problem.objective.curvature(H, V, fitted, G)

        steps = conjugate_gradients(
            curvature, gradient, ~held, axis=None, tolerance=ACCURACY, max_steps=MOST_STEPS
        )
        try:
            V = next(steps)
            while True:
                V = steps.send(H @ (H.T @ V))  # the product of A if it were HHᵀ
        except StopIteration as end:
            return end.value
