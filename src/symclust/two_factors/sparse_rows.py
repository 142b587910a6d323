"""Sparse NMF: memberships with few entries, thesis (11)."""

from __future__ import annotations

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.operators import Bipartite
from symclust.two_factors.objective import TwoFactors
from symclust.two_factors.row_problem import RowProblem

__all__ = ["SparseRows"]


class SparseRows(TwoFactors):
    r"""An L1 term on the rows of W and a ridge on C, thesis (11); its W is our C, its H our W.

    .. math:: f(W, C) = \|X - WC^T\|_F^2 + \alpha \|C\|_F^2 + \beta \sum_i \|w_i\|_1^2

    The ridge keeps W from going to zero while C grows, which would make the L1 term vanish.

    Parameters
    ----------
    operator : Bipartite
        The data X.
    ridge : float
        The weight α.
    sparsity : float
        The weight β.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import Bipartite
    >>> from symclust.two_factors import SparseRows
    >>> A = Bipartite(np.ones((2, 3)))
    >>> objective, H = SparseRows(A, ridge=1.0, sparsity=0.5), np.ones((5, 1))
    >>> objective.value(H, A @ H, objective.gram(H))
    4.0
    """

    def __init__(self, operator: Bipartite, ridge: float, sparsity: float) -> None:
        super().__init__(operator)
        self.ridge, self.sparsity = float(ridge), float(sparsity)

    def penalty(self, H: Array) -> float:
        """Return α‖C‖² + β Σ ‖w_i‖₁²."""
        W, C = self.operator.sides(H)
        sums, entries = W.sum(axis=1), C.reshape(-1)
        return self.ridge * _kernels.inner(entries, entries) + self.sparsity * _kernels.inner(sums, sums)

    def samples_problem(self, C: Array, XC: Array, G: Array) -> RowProblem:
        """Return the problem with CᵀC + β11ᵀ."""
        return RowProblem(G + self.sparsity, XC)

    def features_problem(self, W: Array, XtW: Array, G: Array) -> RowProblem:
        """Return the problem with WᵀW + αI."""
        return RowProblem(G + self.ridge * np.eye(len(G)), XtW)
