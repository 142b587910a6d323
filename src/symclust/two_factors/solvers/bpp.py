"""Alternating nonnegative least squares by block principal pivoting."""

from __future__ import annotations

from typing import ClassVar

from symclust._types import Array
from symclust.nnls import block_pivoting
from symclust.two_factors.row_problem import RowProblem
from symclust.two_factors.solvers._alternating import AlternatingSolver

__all__ = ["Bpp"]


class Bpp(AlternatingSolver):
    """Every half step solves its problem exactly (Kim and Park 2011; thesis 2.2, NMF/ANLS)."""

    needs: ClassVar[frozenset[str]] = AlternatingSolver.needs | {"separate rows"}

    def minimise(self, problem: RowProblem, Y: Array) -> Array:
        """Solve, pivoting from the support of Y: it hardly changes from step to step."""
        return block_pivoting(problem.left, problem.right, Y)
