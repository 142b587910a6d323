"""X held as a dense array."""

from __future__ import annotations

from typing import Any

import numpy as np

from symclust._threads import map_blocks, single_threaded_blas, split
from symclust._types import Array
from symclust.operators._factor import COLUMNS, Factor
from symclust.operators._products import dense_product, transposed_product

__all__ = ["DenseFactor"]

CHUNK = 4096  # rows of X that are converted to float64 at one time


class DenseFactor(Factor):
    """X as a row-major array."""

    def __init__(self, X: Array) -> None:
        self.X = X

    @property
    def stored(self) -> Array:
        """All entries."""
        return self.X

    def times(self, Z: Array) -> Array:
        """Return X @ Z."""
        return dense_product(self.X, Z)

    def transposed_times(self, H: Array) -> Array:
        """Return X.T @ H."""
        return transposed_product(self.X, H)

    def add_transposed(self, H: Array, weights: Array, Z: Array) -> None:
        """Add diag(weights) X.T @ H to Z in place; threads share the columns of X, since rows are few."""
        Z += weights[:, None] * dense_product(self.X.T, H)

    def take(self, index: Any) -> DenseFactor:
        """Return the chosen rows as a factor; a view for a slice."""
        return DenseFactor(self.X[index])

    def columns_scaled(self, weights: Array) -> DenseFactor:
        """Return X diag(weights) as a factor."""
        return DenseFactor(self.X * weights)

    def column_minima(self) -> Array:
        """Return the smallest entry of each column."""
        return self.X.min(axis=0)

    def less_minima(self) -> DenseFactor:
        """Return X with the smallest entry of each column taken off it, as a factor."""
        return DenseFactor(self.X - self.column_minima())

    def outer(self, other: DenseFactor) -> Array:
        """Return X @ other.X.T as a dense array."""
        return self.X @ other.X.T

    def row_dots(self, other: DenseFactor) -> Array:
        """Return the inner products of equal rows of X and other.X, in float64."""
        return np.einsum("ij,ij->i", self.X, other.X, dtype=np.float64)

    def rows_at_once(self, size: int) -> int:
        """Return how many rows take about `size` bytes in float64."""
        return max(1, size // (8 * max(1, self.shape[1])))

    def is_nonnegative(self) -> bool:
        """Whether no entry is negative."""
        return not self.X.size or bool(self.X.min() >= 0)

    def columns_are_cheaper(self) -> bool:
        """Whether there are no more columns than rows."""
        return self.shape[1] <= self.shape[0]

    def squared_gram(self, squared_scale: Array, weights: Array) -> float:
        """Return Σ w_p w_q m_pq² for M = Xᵀ diag(squared_scale) X, a block of rows of M at a time."""
        n, d = self.shape

        def part(columns: slice) -> float:
            M = np.zeros((columns.stop - columns.start, d))
            for rows in split(n, CHUNK):
                X = self.X[rows].astype(np.float64)
                M += (squared_scale[rows, None] * X[:, columns]).T @ X
            return float(weights[columns] @ (np.square(M, out=M) @ weights))

        with single_threaded_blas():
            return float(sum(map_blocks(part, split(d, COLUMNS))))
