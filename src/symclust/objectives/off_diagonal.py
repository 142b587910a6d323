"""The off-diagonal objective: how well HHᵀ fits A where i ≠ j."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from symclust import _kernels
from symclust.objectives._base import ALL_ROWS, Array, Objective

if TYPE_CHECKING:
    from symclust.operators import Operator


class OffDiagonal(Objective):
    r"""Squared distance without the diagonal, offdiagonal (2) with the squared loss.

    .. math:: f(H) = \sum_{i \ne j} (A_{ij} - h_i^T h_j)^2

    Parameters
    ----------
    operator : Operator
        The similarity A; its diagonal is ignored.
    """

    offers: ClassVar[frozenset[str]] = frozenset({"value", "gradient", "parts", "row_problem"})
    full_diagonal: ClassVar[bool] = False

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self.diagonal = operator.diagonal()
        self.squared_norm -= _kernels.inner(self.diagonal, self.diagonal)

    def value(self, H: Array, AH: Array, G: Array) -> float:
        """Return f(H) through the trace form less its diagonal part."""
        lengths = np.einsum("il,il->i", H, H)
        fit = _kernels.inner(H.reshape(-1), AH.reshape(-1)) - _kernels.inner(self.diagonal, lengths)
        square = float(np.sum(G * G)) - _kernels.inner(lengths, lengths)
        return max(self.squared_norm - 2 * fit + square, 0.0)

    def parts(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> tuple[Array, Array]:
        """Return (HG − diag(‖h_i‖²) H, AH − diag(A) H)."""
        lengths = np.einsum("il,il->i", H, H)[:, None]
        return H @ G.astype(H.dtype) - lengths * H, AH - self.diagonal[rows, None] * H
