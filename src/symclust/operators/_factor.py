"""The n x d matrix X inside an operator, seen through what the operators made of it need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from symclust._types import Array

__all__ = ["COLUMNS", "Factor"]

COLUMNS = 256  # columns of X whose products with all others are held at one time


class Factor(ABC):
    """A matrix X of n rows and d columns."""

    X: Any

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
        """Return X @ Z."""

    @abstractmethod
    def transposed_times(self, H: Array) -> Array:
        """Return X.T @ H."""

    @abstractmethod
    def add_transposed(self, H: Array, weights: Array, Z: Array) -> None:
        """Add diag(weights) X.T @ H to Z in place, for an X of few rows."""

    @abstractmethod
    def take(self, index: Any) -> Factor:
        """Return the chosen rows as a factor; without a copy for a slice."""

    @abstractmethod
    def columns_scaled(self, weights: Array) -> Factor:
        """Return X diag(weights) as a factor."""

    @abstractmethod
    def column_minima(self) -> Array:
        """Return the smallest entry of each column."""

    @abstractmethod
    def less_minima(self) -> Factor:
        """Return X with the smallest entry of each column taken off it, as a factor."""

    @abstractmethod
    def outer(self, other: Any) -> Array:
        """Return X @ other.X.T as a dense array, on one thread."""

    @abstractmethod
    def row_dots(self, other: Any) -> Array:
        """Return the inner products of equal rows of X and other.X, in float64."""

    @abstractmethod
    def rows_at_once(self, size: int) -> int:
        """Return how many rows take about `size` bytes in float64."""

    @abstractmethod
    def is_nonnegative(self) -> bool:
        """Whether no entry is negative."""

    @abstractmethod
    def columns_are_cheaper(self) -> bool:
        """Whether XᵀX costs less than XXᵀ."""

    @abstractmethod
    def squared_gram(self, squared_scale: Array, weights: Array) -> float:
        """Return Σ w_p w_q m_pq² for M = Xᵀ diag(squared_scale) X, in float64.

        This is ‖diag(s) X diag(w) Xᵀ diag(s)‖² without n x n numbers: both are the trace of (diag(w) M)².
        """
