"""A[index][:, index] for an A that cannot be cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symclust._types import Array
from symclust.operators._arrays import as_subset
from symclust.operators._base import Operator

__all__ = ["Restricted"]


class Restricted(Operator):
    """The operator on some rows and columns of another; a product still costs one with the whole of it."""

    def __init__(self, operator: Operator, index: NDArray[np.intp]) -> None:
        super().__init__(index.size, operator.dtype)
        self._operator = operator
        self._index = index
        self._rows_are_thread_safe = operator._rows_are_thread_safe

    def _product(self, H: Array) -> Array:
        whole = np.zeros((self._operator.n, H.shape[1]), dtype=self.dtype)
        whole[self._index] = H
        return self._operator._product(whole)[self._index]

    def _rows(self, index: Any) -> Array:
        return self._operator._rows(self._index[index])[:, self._index]

    def submatrix(self, index: Any) -> Restricted:
        """Return the operator on fewer rows and columns; one restriction, however many were asked for."""
        return Restricted(self._operator, self._index[as_subset(index, self.n)])

    def diagonal(self) -> Array:
        """Return the n diagonal entries."""
        return self._operator.diagonal()[self._index]
