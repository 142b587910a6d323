"""A held as a dense array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs

from symclust import _kernels
from symclust._threads import cached_property, single_threaded_blas
from symclust._types import Array
from symclust.exceptions import InputError
from symclust.operators._arrays import (
    as_pairs,
    as_subset,
    as_vector,
    dense_product,
    read_dense,
    transposed_product,
)
from symclust.operators._base import Operator

__all__ = ["Dense"]

# Up to a quarter of the rows, which are copied before they are multiplied, cost less than all of them.
FEW_ROWS = 4


class Survey(NamedTuple):
    """Results of one pass over all entries."""

    squares: float
    smallest: float
    largest: float
    asymmetry: float


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

    @property
    def matrix(self) -> Array:
        """The array."""
        return self.array

    def _product(self, H: Array) -> Array:
        return dense_product(self.array, H)

    def matvec(self, x: Array) -> Array:
        # One triangle is read, in half the time, on one thread; several do better with all of A, in blocks.
        with single_threaded_blas():
            return get_blas_funcs("symv", dtype=self.dtype)(1.0, self.array.T, x)

    def _rows(self, index: Any) -> Array:
        return self.array[index]

    def _rows_product(self, rows: slice, H: Array) -> Array:
        return dense_product(self.array[rows], H)

    def visit(self, ids: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the whole array: nothing needs to be made or copied."""
        yield self.array, ids, ids

    def block(self, rows: slice) -> Array:
        return self.array[rows, rows]

    def entries(self, rows: Any, columns: Any) -> Array:
        rows, columns = as_pairs(rows, columns, self.n)
        return self.array[rows, columns]

    def diagonal(self) -> Array:
        return self.array.diagonal().copy()

    def combine_rows(self, ids: Array, weights: Array) -> Array:
        """The sum of the rows `ids`, each times its weight; only these are read if they are few."""
        if FEW_ROWS * len(ids) > self.n:
            return super().combine_rows(ids, weights)
        weights = np.asarray(weights, dtype=self.dtype)
        columns = weights[:, None] if weights.ndim == 1 else weights
        return transposed_product(self.array, columns, ids).reshape(self.n, *weights.shape[1:])

    @cached_property
    def _survey(self) -> Survey:
        """Results of one pass over A, for all checks of a similarity."""
        return Survey(*_kernels.survey_dense(self.array))

    def _sum_of_squares(self) -> float:
        return self._survey.squares

    def largest(self) -> float:
        return self._survey.largest

    def is_nonnegative(self) -> bool:
        return self._survey.smallest >= 0

    def asymmetry(self) -> float:
        return self._survey.asymmetry

    def submatrix(self, index: Any) -> Dense:
        index = np.arange(self.n, dtype=np.int64)[as_subset(index, self.n)]
        array = np.empty((index.size, index.size), dtype=self.dtype)
        _kernels.submatrix(self.array, index, array)
        return Dense(array)

    def scaled(self, d: Any) -> Dense:
        d = as_vector(d, self.n, self.dtype, "d")
        array = self.array * d
        array *= d[:, None]
        return Dense(array)

    def without(self, mask: Any) -> Dense:
        array = self.array.copy()
        array[mask.nonzero()] = 0
        return Dense(array)
