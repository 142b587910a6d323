"""The off-diagonal objective with absolute values: what binary similarities with errors want."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from symclust import _kernels
from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.objectives._base import Objective
from symclust.objectives._medians import (
    BINARY,
    MEASURE,
    MEDIAN,
    Medians,
    ResidualMedians,
    RowMedians,
    SparseMedians,
)
from symclust.objectives._pairs import IgnoredPairs
from symclust.objectives.off_diagonal import OffDiagonal

if TYPE_CHECKING:
    from symclust.constraints import Constraint
    from symclust.operators import Operator

__all__ = ["Absolute"]


class Absolute(Objective):
    r"""Sum of absolute differences without the diagonal, offdiagonal (3) with p = 1.

    .. math:: f(H) = \sum_{i \ne j} |A_{ij} - h_i^T h_j|

    It has no gradient. Stationarity is the decrease that minimising over single entries would bring, each
    entry by itself and from the same H, summed: zero exactly where no entry can be improved.

    Parameters
    ----------
    operator : Operator
        The similarity A; its diagonal is ignored, and entries at ignored pairs must be zero.
    ignored : IgnoredPairs, optional
        Pairs that do not count.
    """

    offers: ClassVar[frozenset[str]] = frozenset({"value", "columns"})
    full_diagonal: ClassVar[bool] = False
    uses_products: ClassVar[bool] = False

    def __init__(self, operator: Operator, ignored: IgnoredPairs | None = None) -> None:
        self.operator = operator
        self.ignored = ignored or IgnoredPairs()
        self.total = self._sum_of_misfits(np.zeros((operator.n, 1), dtype=operator.dtype))

    def value(self, H: Array, AH: Any = None, G: Any = None) -> float:
        """Return f(H); a sparse A costs its nonzeros, any other A all pairs."""
        return self._sum_of_misfits(np.ascontiguousarray(H))

    def relative_error(self, H: Array, value: float) -> float:
        """Return f(H) / f(0)."""
        return value / self.total if self.total > 0 else 0.0

    def measure(self, H: Array, AH: Any, constraint: Constraint) -> tuple[float, float]:
        """Return f(H), and the decrease that single entries could still bring."""
        H = H.copy()
        trial = self.columns(H, MEASURE)
        for column in range(H.shape[1]):
            trial.descend(column)
        return self.value(H), trial.stationarity

    def rounding(self, H: Array, AH: Any) -> float:
        """Return a decrease that is nothing but rounding."""
        return 16 * float(np.finfo(H.dtype).eps) * self.total

    def guide(self) -> OffDiagonal:
        """Return the squared loss: from random numbers the medians of this one lead nowhere."""
        return OffDiagonal(self.operator, self.ignored)

    def columns(self, H: Array, rule: int = MEDIAN) -> Medians:
        """Return what descends on the columns of H."""
        A: Any = self.operator
        with single_threaded_blas():
            if A.is_sparse:
                return SparseMedians(self, H, rule)
            return ResidualMedians(self, H, rule) if A.is_dense else RowMedians(self, H, rule)

    def binarize(self, H: Array) -> Array:
        """Return a 0/1 factor near H whose entries none can be flipped to advantage.

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
        """Return an entry of A off the diagonal that is none of these values, or None."""
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
