"""A = [[0, X], [Xᵀ, 0]]: samples on one side, features on the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from symclust._types import Array
from symclust.operators._base import Operator, sum_of_squares
from symclust.operators._eigen import SMALL, random_range
from symclust.operators._factors import Factor, read_factor

__all__ = ["Bipartite"]

PASSES = 3  # of a random range: with two, fits of documents sometimes end in worse minima


class Bipartite(Operator):
    """The graph of samples and features that a data matrix X is.

    Its rows are those of the n samples followed by the d features. With H = [W; C] a product is [XC; XᵀW],
    all that factoring X ≈ WCᵀ needs; each half can be had by itself. A sparse X is also kept transposed once
    a product is taken, so that sums run in one order on any number of threads.

    Parameters
    ----------
    X : array or SciPy sparse array of shape (n, d)
        One row per sample.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import Bipartite
    >>> A = Bipartite(np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]]))
    >>> A.toarray().astype(int).tolist()
    [[0, 0, 1, 2, 0], [0, 0, 0, 1, 3], [1, 0, 0, 0, 0], [2, 1, 0, 0, 0], [0, 3, 0, 0, 0]]
    >>> A.times(np.ones((3, 1))).tolist(), A.transposed_times(np.ones((2, 1))).tolist()
    ([[3.0], [4.0]], [[1.0], [3.0], [3.0]])
    """

    def __init__(self, X: Any) -> None:
        self._factor = X if isinstance(X, Factor) else read_factor(X)
        self.n_samples, self.n_features = self._factor.shape
        super().__init__(self.n_samples + self.n_features, self._factor.X.dtype)

    def times(self, C: Array) -> Array:
        """XC."""
        return self._factor.times(np.ascontiguousarray(C, dtype=self.dtype))

    def transposed_times(self, W: Array) -> Array:
        """XᵀW."""
        return self._factor.transposed_times(np.ascontiguousarray(W, dtype=self.dtype))

    def sides(self, H: Array) -> tuple[Array, ...]:
        """The rows of the samples and those of the features, as views."""
        return H[: self.n_samples], H[self.n_samples :]

    def _product(self, H: Array) -> Array:
        W, C = self.sides(H)
        return np.concatenate([self.times(C), self.transposed_times(W)])

    def feature_minima(self) -> Array:
        """The smallest entry of each column of X."""
        return self._factor.column_minima()

    def less_minima(self) -> Bipartite:
        """The operator of X ≥ 0 less the smallest entry of each column; sparse stays sparse."""
        return Bipartite(self._factor.less_minima())

    def diagonal(self) -> Array:
        """The zeros on the diagonal: no sample is a feature."""
        return np.zeros(self.n, self.dtype)

    def mean(self) -> float:
        total = float(np.sum(self._factor.stored, dtype=np.float64))
        return total / (self.n_samples * self.n_features)

    def _sum_of_squares(self) -> float:
        return 2 * sum_of_squares(self._factor.stored)

    def largest(self) -> float:
        """The largest entry, at least zero: that of the two empty blocks."""
        return float(self._factor.stored.max(initial=0))

    def is_nonnegative(self) -> bool:
        return self._factor.is_nonnegative()

    def asymmetry(self) -> float:
        return 0.0

    def eigsh(self, k: int, which: str = "LA", tol: float = 0.0) -> tuple[Array, Array]:
        """The k eigenvalues and eigenvectors; the largest are singular values of X and [u; v]/√2.

        Those come from XXᵀ or XᵀX, whichever is smaller: squared values lie further apart, and half of the
        spectrum is not there. Squares also lose half of the digits, so that very small ones are sought in A.
        """
        smaller = min(self.n_samples, self.n_features)
        if which != "LA" or not 1 <= k < smaller:
            return super().eigsh(k, which, tol)
        squares, vectors = _Squared(self).eigsh(k, "LA", tol)
        return self._of_squares(squares, vectors) or super().eigsh(k, which, tol)

    def leading(self, k: int) -> tuple[Array, Array]:
        """The same from a few products with blocks of columns, if Lanczos would take many with one."""
        smaller = _Squared(self)
        if smaller.n <= SMALL:
            return self.eigsh(k)
        found = random_range(smaller, k, PASSES, np.random.RandomState(0))
        return self._of_squares(*found) or self.eigsh(k)

    def _of_squares(self, squares: Array, vectors: Array) -> tuple[Array, Array] | None:
        values = np.sqrt(np.maximum(squares, 0)).astype(self.dtype)
        if values[-1] <= np.finfo(self.dtype).eps ** 0.25 * values[0]:
            return None
        by_samples = len(vectors) == self.n_samples
        others = (self.transposed_times if by_samples else self.times)(vectors) / values
        sides = [vectors, others] if by_samples else [others, vectors]
        return values, np.concatenate(sides) * self.dtype.type(np.sqrt(0.5))


class _Squared(Operator):
    """XXᵀ or XᵀX, whichever is smaller."""

    def __init__(self, A: Bipartite) -> None:
        super().__init__(min(A.n_samples, A.n_features), A.dtype)
        halves = (A.transposed_times, A.times)
        self._halves = halves if self.n == A.n_samples else halves[::-1]

    def _product(self, H: Array) -> Array:
        first, second = self._halves
        return second(first(H))
