"""Alternating nonnegative least squares by block principal pivoting."""

from __future__ import annotations

from typing import cast

from symclust._types import Array
from symclust.nnls import block_pivoting
from symclust.objectives import Objective
from symclust.two_factors.objective import TwoFactors
from symclust.two_factors.row_problem import RowProblem
from symclust.two_factors.solvers._alternating import AlternatingSolver

__all__ = ["Bpp"]


class Bpp(AlternatingSolver):
    """Every half step solves its problem exactly (Kim and Park 2011; thesis 2.2, NMF/ANLS)."""

    @classmethod
    def lacks(cls, objective: Objective) -> list[str]:
        """Name separate rows too: pivoting solves them one by one."""
        missing = super().lacks(objective)
        return missing or ([] if cast(TwoFactors, objective).separate_rows else ["separate rows"])

    def minimise(self, problem: RowProblem, Y: Array) -> Array:
        """Solve, pivoting from the support of Y: it hardly changes from step to step."""
        return block_pivoting(problem.left, problem.right, Y)
