"""The SymNMF objective ‖A − HHᵀ‖², with an optional L1 term."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.objectives._base import ALL_ROWS, Objective
from symclust.objectives._columns import SquaredColumns

if TYPE_CHECKING:
    from symclust.operators import Operator

__all__ = ["Frobenius"]


class Frobenius(Objective):
    r"""Squared Frobenius distance, symnmf (6), with the sparsity term of (18).

    .. math:: f(H) = \|A - HH^T\|_F^2 + 2 \beta \sum_i \|h_i\|_1^2

    The L1 term is what (18) becomes at W = H. It adds β to every entry of the Gram matrix a row sees,
    (19)-(20), which is all that any solver needs to know of it.

    Parameters
    ----------
    operator : Operator
        The similarity A.
    sparsity : float, default=0.0
        The weight β.
    """

    offers: ClassVar[frozenset[str]] = frozenset(
        {
            "value",
            "gradient",
            "parts",
            "curvature",
            "column_curvature",
            "normal_equations",
            "row_problem",
            "columns",
        }
    )

    def __init__(self, operator: Operator, sparsity: float = 0.0) -> None:
        super().__init__(operator)
        self.sparsity = self.row_offset = float(sparsity)

    def value(self, H: Array, AH: Array, G: Array) -> float:
        """Return f(H) through the trace form, exact to about 1e-16 ‖A‖²."""
        fit = self.squared_norm - 2 * _kernels.inner(H.reshape(-1), AH.reshape(-1)) + float(np.sum(G * G))
        return max(fit, 0.0) + self.penalty(H)

    def penalty(self, H: Array) -> float:
        """Return the L1 term 2β Σ ‖h_i‖₁²."""
        return 2 * self.sparsity * _row_sums_squared(H) if self.sparsity else 0.0

    def parts(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> tuple[Array, Array]:
        """Return (HG + β H11ᵀ, AH)."""
        return H @ (G + self.sparsity).astype(H.dtype), AH

    def columns(self, H: Array) -> SquaredColumns:
        """Return what descends on H entry by entry."""
        return SquaredColumns(self, H)

    def curvature(self, H: Array, V: Array, AV: Array, G: Array) -> Array:
        """Return ∇²f(H)[V], the blocks of symnmf 5.1 without forming them."""
        GV = (H.T @ V).astype(V.dtype)
        product = H @ (GV + GV.T) - AV + V @ (G + self.sparsity).astype(V.dtype)
        product *= 4
        return product

    def column_curvature(self, H: Array, V: Array, AV: Array, G: Array) -> Array:
        """Return the diagonal blocks of ∇²f(H), one a column, times the columns of V, as (14) needs them."""
        GV = H.T @ V
        diagonal = (np.diag(G) + self.sparsity).astype(V.dtype)
        product = H @ GV - AV + H * np.diag(GV) + V * diagonal
        product *= 4
        return product

    def normal_equations(self, W: Array, AW: Array, G: Array, coupling: float) -> tuple[Array, Array]:
        """Return (WᵀW + αI + β11ᵀ, AW + αW), the normal equations of (17) and (20), as fresh arrays."""
        left = G + self.sparsity
        left[np.diag_indices_from(left)] += coupling
        return left.astype(W.dtype), AW + W.dtype.type(coupling) * W

    def coupled_value(self, W: Array, AW: Array, H: Array, coupling: float) -> float:
        """Return g(W, H) of (15) and (18): what alternating least squares descends on."""
        GW, GH = _kernels.gram(W)[0], _kernels.gram(H)[0]
        difference = (W - H).reshape(-1)
        value = self.squared_norm - 2 * _kernels.inner(AW.reshape(-1), H.reshape(-1)) + float(np.sum(GW * GH))
        value += coupling * _kernels.inner(difference, difference)
        return value + self.sparsity * (_row_sums_squared(W) + _row_sums_squared(H))


def _row_sums_squared(H: Array) -> float:
    sums = H.sum(axis=1)
    return _kernels.inner(sums, sums)
