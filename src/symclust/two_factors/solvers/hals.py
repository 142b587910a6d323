"""Hierarchical alternating least squares."""

from __future__ import annotations

from symclust._types import Array
from symclust.two_factors.row_problem import RowProblem
from symclust.two_factors.solvers._alternating import AlternatingSolver

__all__ = ["Hals"]


class Hals(AlternatingSolver):
    """Every half step is a sweep over the columns, each set to its best value (Cichocki and Phan 2009)."""

    def minimise(self, problem: RowProblem, Y: Array) -> Array:
        """Sweep once from Y."""
        return problem.sweep(Y)
