"""The off-diagonal objective with absolute values, for binary similarities with errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from symclust import _kernels
from symclust._threads import map_blocks, single_threaded_blas, split
from symclust._types import Array
from symclust.objectives._base import ColumnDescent, Objective
from symclust.objectives.squared import UNSURE, IgnoredPairs, OffDiagonal

if TYPE_CHECKING:
    from symclust.constraints import Constraint
    from symclust.operators import Operator

__all__ = ["Absolute"]

# Rules for an entry, by the numbers of the kernels.
MEASURE, MEDIAN, BINARY = 0, 1, 2
ROWS = 256  # rows of the residual made at a time


class Absolute(Objective):
    r"""Sum of absolute differences without the diagonal, offdiagonal (3) with p = 1.

    .. math:: f(H) = \sum_{i \ne j} |A_{ij} - h_i^T h_j|

    It has no gradient. Stationarity is the decrease that minimising over single entries would bring, each
    entry by itself and from the same H, summed: zero exactly if no entry can be improved.

    Parameters
    ----------
    operator : Operator
        The similarity A; its diagonal is ignored, and entries at ignored pairs must be zero.
    ignored : IgnoredPairs, optional
        Pairs that do not count.
    """

    def __init__(self, operator: Operator, ignored: IgnoredPairs | None = None) -> None:
        self.operator = operator
        self.ignored = ignored or IgnoredPairs()
        self.total = self._sum_of_misfits(np.zeros((operator.n, 1), dtype=operator.dtype))

    def needs_product(self, H: Array) -> bool:
        """False: misfits are counted entry by entry."""
        return False

    def value(self, H: Array) -> float:
        """f(H); a sparse A costs its nonzeros, any other A all pairs."""
        return self._sum_of_misfits(np.ascontiguousarray(H))

    def relative_error(self, H: Array, value: float) -> float:
        """f(H) / f(0)."""
        return value / self.total if self.total > 0 else 0.0

    def measure(self, H: Array, AH: Any, constraint: Constraint) -> tuple[float, float]:
        """f(H), and the decrease that single entries could still bring."""
        H = H.copy()
        trial = self.columns(H, MEASURE)
        for column in range(H.shape[1]):
            trial.descend(column)
        return self.value(H), trial.stationarity

    def rounding(self, H: Array, AH: Any) -> float:
        """A decrease that is nothing but rounding."""
        return 16 * float(np.finfo(H.dtype).eps) * self.total

    def certify(self, H: Array, value: float) -> float:
        """f(H) from products in double precision if those in single precision have lost it."""
        if H.dtype == np.float64 or value > UNSURE * float(np.finfo(H.dtype).eps) * self.total:
            return value
        return self.value(H.astype(np.float64))

    def surrogate(self) -> OffDiagonal:
        """The squared loss: from random numbers the medians of this one lead nowhere."""
        return OffDiagonal(self.operator, self.ignored)

    def columns(self, H: Array, rule: int = MEDIAN) -> Medians:
        """The descent on the columns of H."""
        A: Any = self.operator
        with single_threaded_blas():
            if A.is_sparse:
                return SparseMedians(A, H, self.ignored, rule)
            by_rows = ResidualMedians if A.is_dense else RowMedians
            return by_rows(A, H, self.ignored, rule)

    def binarize(self, H: Array) -> Array:
        """A 0/1 factor near H of which no entry can be flipped to advantage.

        Each entry takes the better of 0 and 1 while the others stay, over and over until none changes: the
        transformation in the proof of lemma 2. With one column, H in [0, 1] and a binary A the objective does
        not rise.
        """
        H = np.minimum(H, 1)
        previous = None
        while previous is None or not np.array_equal(previous, H):
            previous = H.copy()
            columns = self.columns(H, BINARY)
            for column in range(H.shape[1]):
                columns.descend(column)
        return H

    def find_other_than(self, *values: float) -> float | None:
        """An entry of A off the diagonal that is none of these values, or None."""
        A: Any = self.operator
        for rows, block in [(None, A.values)] if A.is_sparse else A.row_blocks():
            odd = ~np.isin(block, values)
            if rows is None:
                odd &= A.indices != np.repeat(np.arange(A.n), np.diff(A.indptr))
            else:
                odd[np.arange(len(odd)), np.arange(rows.start, rows.stop)] = False
            if odd.any():
                return float(block[odd][0])
        return None

    def _sum_of_misfits(self, H: Array) -> float:
        A: Any = self.operator
        total = self._sparse_misfits(A, H) if A.is_sparse else self._row_misfits(A, H)
        if self.ignored.any:
            total -= float(self.ignored.products(H).data.sum(dtype=np.float64))
        return max(total, 0.0)

    @staticmethod
    def _sparse_misfits(A: Any, H: Array) -> float:
        """Σ|a − d| over the nonzeros a, and d = h_i·h_j elsewhere: all pairs less those of the nonzeros."""
        products = np.empty(A.values.size, dtype=H.dtype)
        _kernels.pattern_products(A.indptr, A.indices, H, products)
        excess = np.abs(A.values - products).astype(np.float64) - products
        excess[A.indices == np.repeat(np.arange(A.n), np.diff(A.indptr))] = 0
        # Each row with the rows before it. The square of the sum less the diagonal would be shorter, but a
        # column with one large entry has little else than its diagonal.
        before = (np.cumsum(h[:-1], dtype=np.float64) for h in H.T)
        pairs = sum(float(np.sum(h[1:] * sums)) for h, sums in zip(H.T, before, strict=True))
        return float(excess.sum()) + 2 * pairs

    @staticmethod
    def _row_misfits(A: Any, H: Array) -> float:
        total = 0.0
        with single_threaded_blas():
            for rows, block in A.row_blocks():
                misfit = np.abs(block - H[rows] @ H.T)
                misfit[np.arange(len(misfit)), np.arange(rows.start, rows.stop)] = 0
                total += float(misfit.sum(dtype=np.float64))
        return total


class Medians(ColumnDescent):
    """Entry problems of the absolute loss: constrained weighted medians, offdiagonal (15).

    There are three ways to the residual that a median looks at. All visit the same entries in the same order
    and give the same H, to rounding.
    """

    def __init__(self, operator: Operator, H: Array, ignored: IgnoredPairs, rule: int) -> None:
        super().__init__(operator, H, ignored)
        self.change = np.zeros(1)
        self._settings = (*ignored.arrays, rule, self.change)

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
    """Dense A with a residual, Algorithms 1 and 3: R is read and written once per column."""

    def __init__(self, operator: Operator, H: Array, ignored: IgnoredPairs, rule: int) -> None:
        super().__init__(operator, H, ignored, rule)
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
        """Begin with a column; rows take in the last column's change when they are visited."""
        super().open(column)
        self.before = self.x.copy()

    def visit(self, ids: Array) -> None:
        """Minimise over the entries `ids` of the open column, in that order."""
        corrections = self.earlier, self.later, self.before
        _kernels.absolute_rows(self.R, ids, ids, *corrections, self.x, *self._settings)

    def close(self) -> None:
        """Write the open column back; its change is left to the visits of the next one."""
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
