"""Entry problems of the absolute loss: constrained weighted medians, offdiagonal (15).

Three ways to the residual that a median looks at. All visit the same entries in the same order and give the
same H, to rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symclust import _kernels
from symclust._threads import map_blocks, split
from symclust._types import Array
from symclust.objectives._columns import Columns

if TYPE_CHECKING:
    from symclust.objectives.absolute import Absolute

# What to do with an entry; the numbers are the kernels'.
MEASURE, MEDIAN, BINARY = 0, 1, 2
ROWS = 256  # rows of the residual made at a time


class Medians(Columns):
    """Weighted medians, one an entry."""

    def __init__(self, objective: Absolute, H: Array, rule: int = MEDIAN) -> None:
        super().__init__(objective.operator, H)
        self.change = np.zeros(1)
        self._settings = (*objective.ignored.arrays, rule, self.change)

    @property
    def decrease(self) -> float:
        """By how much the objective has fallen, or with the rule MEASURE would fall entry by entry."""
        return float(self.change[0])

    @property
    def stationarity(self) -> float:
        """The same: an entry is stationary if moving it alone brings nothing."""
        return max(float(self.change[0]), 0.0)


class SparseMedians(Medians):
    """Sparse A without a residual, Algorithm 4, at the cost of A's nonzeros instead of n² k²."""

    def visit(self, ids: Array) -> None:
        """Minimise over the entries `ids` of the open column, in that order."""
        A = self.A
        _kernels.absolute_sparse(
            A.indptr, A.indices, A.values, self.H, self.x, self.column, ids, *self._settings
        )


class ResidualMedians(Medians):
    """Dense A with a residual, Algorithms 1 and 3: R is read and written once a column."""

    def __init__(self, objective: Absolute, H: Array, rule: int = MEDIAN) -> None:
        super().__init__(objective, H, rule)
        self.R = self._residual()
        self.earlier = np.zeros(len(H), dtype=H.dtype)
        self.later = np.zeros(len(H), dtype=H.dtype)
        self.before = self.later

    def _residual(self) -> Array:
        A, H = self.A.array, self.H
        R = np.empty_like(A)

        def fill(rows: slice) -> None:
            np.matmul(H[rows], H.T, out=R[rows])
            np.subtract(A[rows], R[rows], out=R[rows])

        map_blocks(fill, split(len(H), ROWS))
        return R

    def open(self, column: int) -> None:
        """Begin with a column; rows learn of the last column's change when they are visited."""
        super().open(column)
        self.before = self.x.copy()

    def visit(self, ids: Array) -> None:
        """Minimise over the entries `ids` of the open column, in that order."""
        corrections = self.earlier, self.later, self.before
        _kernels.absolute_rows(self.R, ids, ids, *corrections, self.x, *self._settings)

    def close(self) -> None:
        """Be done with a column; how it has changed is left to the next column's visits."""
        super().close()
        self.earlier, self.later = self.before, self.x


class RowMedians(Medians):
    """Any other A: its rows and their residuals are made a block at a time, and again for every column."""

    def open(self, column: int) -> None:
        """Begin with a column."""
        super().open(column)
        self.others = self.H.copy()
        self.others[:, column] = 0
        self.nothing = np.zeros_like(self.x)

    def visit(self, ids: Array) -> None:
        """Minimise over the entries `ids` of the open column, in that order."""
        for rows, places, part in self.A.visit(ids):
            P = rows - self.others[part] @ self.others.T
            _kernels.absolute_rows(
                P, places, part, self.nothing, self.nothing, self.nothing, self.x, *self._settings
            )
