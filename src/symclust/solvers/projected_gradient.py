"""Projected gradient descent."""

from __future__ import annotations

from collections.abc import Generator

from symclust.solvers._base import Array, Problem, State
from symclust.solvers._projected_search import REDUCTION, ProjectedSearch


class ProjectedGradient(ProjectedSearch):
    """Symnmf Algorithm 1 with S = I.

    The search starts from the last accepted step enlarged once, not from 1: with S = I the good step depends
    on the scale of A, and every trial costs a product.
    """

    def direction(
        self, problem: Problem, state: State, gradient: Array, held: Array, G: Array
    ) -> Generator[Array, Array, Array]:
        """Return the gradient."""
        yield from ()
        return gradient

    def first_step(self, state: State) -> float:
        """Return the last step, enlarged once."""
        return float(state.memory["size"]) / REDUCTION if "size" in state.memory else 1.0
