"""A held as a dense array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from symclust._threads import map_blocks, split
from symclust.exceptions import InputError
from symclust.operators._arrays import Array, as_pairs, as_subset, as_vector, read_dense
from symclust.operators._base import Operator
from symclust.operators._products import dense_product

__all__ = ["Dense"]

TILE = 512  # rows and columns of the squares compared by `asymmetry`: two of them fit in the cache


class Dense(Operator):
    """A symmetric matrix held as a row-major array.

    Parameters
    ----------
    A : array of shape (n, n)
        float32 and float64 are kept without a copy if row-major; integers and bools become float64.

    Attributes
    ----------
    array : ndarray of shape (n, n)
        The matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import Dense
    >>> A = Dense(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> (A @ np.array([1.0, 1.0])).tolist(), A.squared_norm()
    ([3.0, 3.0], 10.0)
    """

    is_dense: ClassVar[bool] = True
    _rows_are_thread_safe = True

    def __init__(self, A: Any) -> None:
        self.array = read_dense(A)
        if self.array.shape[0] != self.array.shape[1]:
            raise InputError(f"A similarity matrix is square; got shape {self.array.shape}.")
        super().__init__(self.array.shape[0], self.array.dtype)

    def _product(self, H: Array) -> Array:
        return dense_product(self.array, H)

    def _rows(self, index: Any) -> Array:
        return self.array[index]

    def _rows_product(self, rows: slice, H: Array) -> Array:
        return dense_product(self.array[rows], H)

    def visit(self, ids: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the whole array: nothing needs to be made or copied."""
        yield self.array, ids, ids

    def block(self, rows: slice) -> Array:
        """Return the dense diagonal block A[rows, rows], a view."""
        return self.array[rows, rows]

    def entries(self, rows: Any, columns: Any) -> Array:
        """Return a_ij for paired arrays of row and column numbers."""
        rows, columns = as_pairs(rows, columns, self.n)
        return self.array[rows, columns]

    def diagonal(self) -> Array:
        """Return the n diagonal entries."""
        return self.array.diagonal().copy()

    def asymmetry(self) -> float:
        """Return the largest difference of a_ij and a_ji, comparing tiles across the diagonal."""

        def worst(rows: slice) -> float:
            right = (slice(start, start + TILE) for start in range(rows.start, self.n, TILE))
            return max(float(np.abs(self.array[rows, c] - self.array[c, rows].T).max()) for c in right)

        return max(map_blocks(worst, split(self.n, TILE)))

    def submatrix(self, index: Any) -> Dense:
        """Return the operator on the chosen rows and columns."""
        index = np.arange(self.n)[as_subset(index, self.n)]
        return Dense(self.array[np.ix_(index, index)])  # one pass: four times as fast as rows, then columns

    def scaled(self, d: Any) -> Dense:
        """Return the operator diag(d) A diag(d), as a new array."""
        d = as_vector(d, self.n, self.dtype, "d")
        array = self.array * d
        array *= d[:, None]
        return Dense(array)

    def without(self, mask: Any) -> Dense:
        """Return the operator with zeros where the symmetric sparse `mask` is nonzero, as a new array."""
        array = self.array.copy()
        array[mask.nonzero()] = 0
        return Dense(array)
