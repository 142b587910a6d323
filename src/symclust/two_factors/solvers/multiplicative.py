"""Multiplicative updates."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.two_factors.row_problem import RowProblem
from symclust.two_factors.solvers._alternating import AlternatingSolver

__all__ = ["Multiplicative"]


class Multiplicative(AlternatingSolver):
    """Every entry is scaled by the ratio of what pulls it up and down (Lee and Seung 2001).

    Never rises, never leaves zero, and slows down long before it is stationary: thesis, figure 1.
    """

    def minimise(self, problem: RowProblem, Y: Array) -> Array:
        """Scale all entries once."""
        repulsion, attraction = problem.parts(Y)
        ratio = np.divide(attraction, repulsion, out=np.ones_like(repulsion), where=repulsion > 0)
        ratio *= Y
        return ratio
