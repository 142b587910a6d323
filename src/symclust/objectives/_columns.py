"""Coordinate descent on one column of H after the other, the entry problems solved by compiled code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.objectives._base import Objective

if TYPE_CHECKING:
    from symclust.operators import Operator


class Columns(ABC):
    """Descends on columns of H in place.

    `open` a column, `visit` all of its entries, each once and in any order, then `close` it: or `descend`,
    which does it in the natural order.

    Attributes
    ----------
    x : ndarray of shape (n,)
        The entries of the open column.
    """

    def __init__(self, operator: Operator, H: Array) -> None:
        self.A: Any = operator
        self.H = H
        self.column = 0
        self.x = np.empty(0, dtype=H.dtype)
        self.all_ids = np.arange(len(H))

    @property
    @abstractmethod
    def decrease(self) -> float:
        """By how much the objective has fallen."""

    @property
    @abstractmethod
    def stationarity(self) -> float:
        """What the objective calls stationarity, gathered while the entries were changing."""

    def descend(self, column: int) -> None:
        """Minimise over the entries of a column, one after the other."""
        self.open(column)
        self.visit(self.all_ids)
        self.close()

    def open(self, column: int) -> None:
        """Begin with a column."""
        self.column = column
        self.x = np.ascontiguousarray(self.H[:, column])

    @abstractmethod
    def visit(self, ids: Array) -> None:
        """Minimise over the entries `ids` of the open column, in that order."""

    def place(self, i: int, value: float) -> None:
        """Set an entry of the open column."""
        self.x[i] = self.H[i, self.column] = value

    def close(self) -> None:
        """Be done with a column."""
        self.H[:, self.column] = self.x


class SquaredColumns(Columns):
    """Entry problems of the squared loss: quartic polynomials, or quadratic ones without the diagonal.

    Needs one product of A with a vector for each column and no residual, offdiagonal Algorithm 2.
    """

    def __init__(self, objective: Objective, H: Array) -> None:
        super().__init__(objective.operator, H)
        self.diagonal = self.A.diagonal()
        self.G = _kernels.gram(H)[0] + objective.row_offset
        self.change = np.zeros(2)
        self._rest = objective.full_diagonal, objective.ignored.arrays

    @property
    def decrease(self) -> float:
        """By how much the objective has fallen."""
        return float(self.change[0])

    @property
    def stationarity(self) -> float:
        """‖∇ᴾf‖, every entry at the time of its visit."""
        return float(np.sqrt(self.change[1]))

    def place(self, i: int, value: float) -> None:
        """Set an entry of the open column, and what it adds to HᵀH."""
        step, l = value - float(self.x[i]), self.column
        row = self.H[i].astype(np.float64)
        row[l] += step / 2
        self.G[l] += step * row
        self.G[:, l] += step * row
        super().place(i, value)

    def visit(self, ids: Array) -> None:
        """Minimise over the entries `ids` of the open column, in that order."""
        full, ignored = self._rest
        A, shared = self.A, (self.diagonal, self.H, self.x, self.G, self.column, full)
        if A.is_sparse:
            _kernels.coordinate_sparse(
                A.indptr, A.indices, A.values, *shared, ids, *ignored, self.change
            )  # fmt: skip
            return
        for rows, places, part in A.visit(ids):
            _kernels.coordinate_rows(rows, places, *shared, part, *ignored, self.change)
