"""The off-diagonal objective: how well HHᵀ fits A where i ≠ j."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.objectives._base import ALL_ROWS, Objective
from symclust.objectives._columns import SquaredColumns
from symclust.objectives._pairs import IgnoredPairs

if TYPE_CHECKING:
    from symclust.constraints import Constraint
    from symclust.operators import Operator

__all__ = ["OffDiagonal"]


class OffDiagonal(Objective):
    r"""Squared distance without the diagonal, offdiagonal (3) with p = 2.

    .. math:: f(H) = \sum_{i \ne j} (A_{ij} - h_i^T h_j)^2

    Parameters
    ----------
    operator : Operator
        The similarity A; its diagonal is ignored, and entries at ignored pairs must be zero.
    ignored : IgnoredPairs, optional
        Further pairs that do not count. They cost k² for each visit of a row that has them.
    """

    offers: ClassVar[frozenset[str]] = frozenset({"value", "gradient", "parts", "row_problem", "columns"})
    full_diagonal: ClassVar[bool] = False

    def __init__(self, operator: Operator, ignored: IgnoredPairs | None = None) -> None:
        super().__init__(operator)
        self.ignored = ignored or IgnoredPairs()
        self.diagonal = operator.diagonal()
        self.squared_norm -= _kernels.inner(self.diagonal, self.diagonal)

    def value(self, H: Array, AH: Array, G: Array) -> float:
        """Return f(H) through the trace form less its diagonal part and that of ignored pairs."""
        # In double precision: rows that ignore each other may be long, and then nearly all of G cancels.
        lengths = np.einsum("il,il->i", H, H, dtype=np.float64)
        fit = _kernels.inner(H.reshape(-1), AH.reshape(-1)) - _kernels.inner(
            self.diagonal.astype(np.float64, copy=False), lengths
        )
        square = float(np.sum(G * G)) - _kernels.inner(lengths, lengths)
        if self.ignored.any:
            products = self.ignored.products(H.astype(np.float64, copy=False)).data
            square -= _kernels.inner(products, products)
        return max(self.squared_norm - 2 * fit + square, 0.0)

    def measure(self, H: Array, AH: Any, constraint: Constraint) -> tuple[float, float]:
        """Return the objective and ‖∇ᴾf(H)‖; with ignored pairs the gradient is made as a whole."""
        if not self.ignored.any:
            return super().measure(H, AH, constraint)
        G = _kernels.gram(H)[0]
        projected = constraint.projected_gradient(H, self.gradient(H, AH, G))
        return self.value(H, AH, G), _kernels.norm(projected)

    def parts(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> tuple[Array, Array]:
        """Return (HG − diag(‖h_i‖²) H − (N∘HHᵀ) H, AH − diag(A) H), N the mask of ignored pairs.

        Where pairs are ignored a block of rows depends on others: it needs all of H.
        """
        lengths = np.einsum("il,il->i", H, H)[:, None]
        repulsion = H @ G.astype(H.dtype) - lengths * H
        if self.ignored.any:
            if rows != ALL_ROWS:
                raise self._lacks("parts for some rows only, since pairs are ignored")
            repulsion -= self.ignored.products(H) @ H
        return repulsion, AH - self.diagonal[rows, None] * H

    def columns(self, H: Array) -> SquaredColumns:
        """Return what descends on H entry by entry, Algorithm 2."""
        return SquaredColumns(self, H)
