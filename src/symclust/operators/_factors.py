"""The n x d matrix X inside an operator, dense or sparse, seen through what the operators made of it need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from symclust import _kernels
from symclust._threads import cached_property, map_blocks, single_threaded_blas, split
from symclust._types import Array
from symclust.exceptions import InputError, InputTypeError
from symclust.operators._arrays import dense_product, read_dense, transposed_product
from symclust.operators.sparse import read_csr

COLUMNS = 256  # columns of a dense X whose products with all others are held at one time


class Factor(ABC):
    """A matrix X of n rows and d columns.

    `blocks_cost` is what all diagonal blocks of a few hundred rows of XXᵀ and products with these cost, in
    products of XXᵀ with 10 to 30 columns, as measured.
    """

    X: Any
    blocks_cost: ClassVar[float]

    @property
    def shape(self) -> tuple[int, int]:
        """The pair (n, d)."""
        return self.X.shape

    @property
    @abstractmethod
    def stored(self) -> Array:
        """The entries that are held, as one array: all of them, or those that are not zero."""

    @abstractmethod
    def times(self, Z: Array) -> Array:
        """X @ Z."""

    @abstractmethod
    def transposed_times(self, H: Array) -> Array:
        """X.T @ H."""

    def inward(self, scale: Array, weights: Array, H: Array) -> Array:
        """Z = diag(weights) X.T diag(scale) @ H, the d x w array that stands for H in products of XXᵀ."""
        return weights[:, None] * self.transposed_times(scale[:, None] * H)

    @abstractmethod
    def add_transposed(self, H: Array, weights: Array, Z: Array) -> None:
        """Add diag(weights) X.T @ H to Z in place, for an X of few rows."""

    @abstractmethod
    def take(self, index: Any) -> Factor:
        """The chosen rows as a factor; without a copy for a slice."""

    @abstractmethod
    def columns_scaled(self, weights: Array) -> Factor:
        """X diag(weights) as a factor."""

    @abstractmethod
    def column_minima(self) -> Array:
        """The smallest entry of each column."""

    @abstractmethod
    def less_minima(self) -> Factor:
        """X with the smallest entry of each column taken off it, as a factor."""

    @abstractmethod
    def outer(self, other: Any) -> Array:
        """X @ other.X.T as a dense array, on one thread."""

    @abstractmethod
    def row_dots(self, other: Any) -> Array:
        """The inner products of equal rows of X and other.X, in float64."""

    @abstractmethod
    def rows_at_once(self, size: int) -> int:
        """Number of rows that take about `size` bytes in float64."""

    @abstractmethod
    def is_nonnegative(self) -> bool:
        """Whether no entry is negative."""

    @abstractmethod
    def columns_are_cheaper(self) -> bool:
        """Whether XᵀX costs less than XXᵀ."""

    @abstractmethod
    def squared_gram(self, squared_scale: Array, weights: Array) -> float:
        """Σ w_p w_q m_pq² for M = Xᵀ diag(squared_scale) X, in float64.

        This is ‖diag(s) X diag(w) Xᵀ diag(s)‖² without n x n numbers: both are the trace of (diag(w) M)².
        """

    @abstractmethod
    def squared_outer(self, scale: Array, weights: Array, diagonal: bool) -> float:
        """The same from XXᵀ, some rows of it at a time, with or without its diagonal."""


CHUNK = 4096  # rows of X that are converted to float64 at one time


class DenseFactor(Factor):
    """X as a row-major array."""

    blocks_cost: ClassVar[float] = 5.0

    def __init__(self, X: Array) -> None:
        self.X = X

    @property
    def stored(self) -> Array:
        return self.X

    def times(self, Z: Array) -> Array:
        return dense_product(self.X, Z)

    def transposed_times(self, H: Array) -> Array:
        return transposed_product(self.X, H)

    def add_transposed(self, H: Array, weights: Array, Z: Array) -> None:
        """Add diag(weights) X.T @ H to Z in place; threads share the columns of X, since rows are few."""
        Z += weights[:, None] * dense_product(self.X.T, H)

    def take(self, index: Any) -> DenseFactor:
        return DenseFactor(self.X[index])

    def columns_scaled(self, weights: Array) -> DenseFactor:
        return DenseFactor(self.X * weights)

    def column_minima(self) -> Array:
        return self.X.min(axis=0)

    def less_minima(self) -> DenseFactor:
        return DenseFactor(self.X - self.column_minima())

    def outer(self, other: DenseFactor) -> Array:
        return self.X @ other.X.T

    def row_dots(self, other: DenseFactor) -> Array:
        return np.einsum("ij,ij->i", self.X, other.X, dtype=np.float64)

    def rows_at_once(self, size: int) -> int:
        return max(1, size // (8 * max(1, self.shape[1])))

    def is_nonnegative(self) -> bool:
        return not self.X.size or bool(self.X.min() >= 0)

    def columns_are_cheaper(self) -> bool:
        """Whether there are no more columns than rows."""
        return self.shape[1] <= self.shape[0]

    def squared_gram(self, squared_scale: Array, weights: Array) -> float:
        """Σ w_p w_q m_pq² for M = Xᵀ diag(squared_scale) X, a block of rows of M at a time."""
        n, d = self.shape

        def part(columns: slice) -> float:
            M = np.zeros((columns.stop - columns.start, d))
            for rows in split(n, CHUNK):
                X = self.X[rows].astype(np.float64)
                M += (squared_scale[rows, None] * X[:, columns]).T @ X
            return float(weights[columns] @ (np.square(M, out=M) @ weights))

        with single_threaded_blas():
            return float(sum(map_blocks(part, split(d, COLUMNS))))

    def squared_outer(self, scale: Array, weights: Array, diagonal: bool) -> float:
        """‖diag(s) X diag(w) Xᵀ diag(s)‖², a block of rows at a time."""
        right = scale[:, None] * self.X

        def part(rows: slice) -> float:
            M = (right[rows] * weights) @ right.T
            if not diagonal:
                M[np.arange(M.shape[0]), np.arange(rows.start, rows.stop)] = 0
            return float(np.square(M, out=M).sum())

        with single_threaded_blas():
            return float(sum(map_blocks(part, split(self.shape[0], COLUMNS))))


class SparseFactor(Factor):
    """X as canonical CSR; its transpose is made at most once, when a product first needs it."""

    blocks_cost: ClassVar[float] = 20.0

    def __init__(self, X: sp.csr_array) -> None:
        self.X = X

    @cached_property
    def _transposed(self) -> sp.csr_array:
        return read_csr(self.X.T)

    @property
    def stored(self) -> Array:
        return self.X.data

    def times(self, Z: Array) -> Array:
        return _product(self.X, Z)

    def transposed_times(self, H: Array) -> Array:
        """X.T @ H, from the transpose: sums run in one order on any number of threads."""
        return _product(self._transposed, H)

    def add_transposed(self, H: Array, weights: Array, Z: Array) -> None:
        """Add diag(weights) X.T @ H to Z in place, touching only the columns in which X has entries."""
        X = self.X
        present = np.zeros(X.shape[1], dtype=bool)
        present[X.indices] = True
        columns = np.flatnonzero(present)
        place = np.empty(X.shape[1], dtype=X.indices.dtype)
        place[columns] = np.arange(columns.size)
        narrow = sp.csr_array((X.data, place[X.indices], X.indptr), shape=(X.shape[0], columns.size))
        Z[columns] += weights[columns, None] * (narrow.T @ H)

    def take(self, index: Any) -> SparseFactor:
        if not isinstance(index, slice):
            return SparseFactor(self.X[index])
        X, rows = self.X, index
        begin, end = X.indptr[rows.start], X.indptr[rows.stop]
        indptr = X.indptr[rows.start : rows.stop + 1] - begin
        shape = (rows.stop - rows.start, X.shape[1])
        return SparseFactor(sp.csr_array((X.data[begin:end], X.indices[begin:end], indptr), shape=shape))

    def columns_scaled(self, weights: Array) -> SparseFactor:
        """X diag(weights) as a factor that shares X's indices."""
        return SparseFactor(_with_values(self.X, self.X.data * weights[self.X.indices]))

    def column_minima(self) -> Array:
        return self.X.min(axis=0).toarray().reshape(-1)

    def less_minima(self) -> SparseFactor:
        """X less the smallest entry of each column, as a factor.

        A nonnegative X stays as sparse as it is: if the smallest entry is not zero, the column is full.
        """
        minima = self.column_minima()
        if minima.min(initial=0) < 0:
            raise InputError("A sparse X with negative entries less its smallest entries would be dense.")
        return SparseFactor(_with_values(self.X, self.X.data - minima[self.X.indices]))

    def outer(self, other: SparseFactor) -> Array:
        """X @ other.X.T as a dense array; the work is that of the sparse product."""
        return (self.X @ other._transposed).toarray()

    def row_dots(self, other: SparseFactor) -> Array:
        return np.asarray(self.X.astype(np.float64).multiply(other.X).sum(axis=1)).reshape(-1)

    def rows_at_once(self, size: int) -> int:
        """Number of rows of average length that take about `size` bytes, values and indices."""
        return max(1, size * self.shape[0] // (16 * max(1, self.X.nnz)))

    def is_nonnegative(self) -> bool:
        return not self.X.nnz or bool(self.X.data.min() >= 0)

    def columns_are_cheaper(self) -> bool:
        """Whether XᵀX needs fewer multiplications than XXᵀ: the squared entries in rows and in columns.

        If they are equal XXᵀ is better: its diagonal can be left out before it is added up.
        """
        counts = np.diff(self.X.indptr), np.bincount(self.X.indices, minlength=self.shape[1])
        by_columns, by_rows = (float(np.square(count, dtype=np.float64).sum()) for count in counts)
        return by_columns < by_rows

    def squared_gram(self, squared_scale: Array, weights: Array) -> float:
        """Σ w_p w_q m_pq² for M = Xᵀ diag(squared_scale) X, a row of M at a time on each thread."""
        return _squared_outer(self._transposed, self.X, squared_scale, weights, diagonal=True)

    def squared_outer(self, scale: Array, weights: Array, diagonal: bool) -> float:
        """‖diag(s) X diag(w) Xᵀ diag(s)‖², a row at a time on each thread."""
        X, T = self.X, self._transposed
        rows = _with_values(X, X.data * np.repeat(scale, np.diff(X.indptr)))
        columns = _with_values(T, T.data * scale[T.indices])
        return _squared_outer(rows, columns, weights, np.ones(X.shape[0]), diagonal)


def _squared_outer(L: sp.csr_array, T: sp.csr_array, v: Array, u: Array, diagonal: bool) -> float:
    """Σ u_p u_q m_pq² for M = L diag(v) Lᵀ, from L and its transpose T."""
    columns = (array.astype(L.indices.dtype, copy=False) for array in (T.indptr, T.indices))
    return float(_kernels.squared_outer(L.indptr, L.indices, L.data, *columns, T.data, v, u, diagonal))


def _with_values(X: sp.csr_array, values: Array) -> sp.csr_array:
    return sp.csr_array((values, X.indices, X.indptr), shape=X.shape)


def _product(X: sp.csr_array, H: Array) -> Array:
    out = np.empty((X.shape[0], H.shape[1]), dtype=H.dtype)
    _kernels.spmm(X.indptr, X.indices, X.data, H, out)
    return out


@dataclass(frozen=True)
class FactoredSum:
    """A = diag(scale) X diag(weights) Xᵀ diag(scale) + E with sparse X and E.

    All that row descent needs to sweep over A without forming any of its rows.
    """

    factor: SparseFactor
    scale: Array
    weights: Array
    extra: sp.csr_array

    def times(self, factor: float) -> FactoredSum:
        """The sum times a number."""
        number = self.weights.dtype.type(factor)
        return replace(self, weights=number * self.weights, extra=number * self.extra)

    def plus(self, E: sp.csr_array) -> FactoredSum:
        """The sum with a sparse matrix added to it."""
        return replace(self, extra=sp.csr_array(self.extra + E))

    def inward(self, H: Array) -> Array:
        """Z = diag(weights) Xᵀ diag(scale) H, the d x w array that stands for H."""
        return self.factor.inward(self.scale, self.weights, H)

    @cached_property
    def arrays(self) -> tuple[Array, ...]:
        """X, scale, weights and E as the kernel takes them: all indices of one type."""
        X, E = self.factor.X, self.extra
        kind = np.promote_types(X.indices.dtype, E.indices.dtype)
        index = [array.astype(kind, copy=False) for array in (X.indptr, X.indices, E.indptr, E.indices)]
        return (*index[:2], X.data, self.scale, self.weights, *index[2:], E.data)


def read_factor(X: Any) -> Factor:
    """X as a factor, held as it is given: dense or sparse."""
    if sp.issparse(X):
        return SparseFactor(read_csr(X))
    if isinstance(X, np.ndarray):
        return DenseFactor(read_dense(X))
    raise InputTypeError(f"X must be a NumPy array or a SciPy sparse array, got {type(X).__name__}.")
