"""Graph-regularised NMF: samples joined in a graph have similar memberships."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust._types import Array
from symclust.operators import Bipartite, Operator
from symclust.two_factors.laplacian import Laplacian
from symclust.two_factors.objective import TwoFactors
from symclust.two_factors.row_problem import RowProblem
from symclust.two_factors.smooth_problem import SmoothProblem

__all__ = ["Smooth"]


class Smooth(TwoFactors):
    r"""The memberships vary little over a graph S of the samples (Cai, He, Han and Huang 2011).

    .. math:: f(W, C) = \|X - WC^T\|_F^2 + \lambda \sum_l \|c_l\|^2 w_l^T L w_l, \quad L = D - S

    With columns c_l of length 1 this is the paper's λ tr(WᵀLW). Written so, it does not change when a column
    of C grows and that of W shrinks. The paper's form does: it has no minimum, since W → 0 removes its term,
    and the paper scales the columns to length 1 once its iterations have ended.

    Parameters
    ----------
    operator : Bipartite
        The data X.
    graph : Operator
        The similarities S of the samples.
    weight : float
        λ.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import Bipartite, Dense
    >>> from symclust.two_factors import Smooth
    >>> A, graph = Bipartite(np.zeros((2, 1))), Dense(1 - np.eye(2))
    >>> objective, H = Smooth(A, graph, weight=10.0), np.array([[1.0], [3.0], [0.5]])
    >>> objective.value(H, A @ H, objective.gram(H)), objective.penalty(H)  # 10 · 0.5² · (3 − 1)²
    (12.5, 10.0)
    """

    separate_rows: ClassVar[bool] = False

    def __init__(self, operator: Bipartite, graph: Operator, weight: float) -> None:
        super().__init__(operator)
        self.laplacian, self.weight = Laplacian(graph), float(weight)

    def penalty(self, H: Array) -> float:
        """Return λ Σ ‖c_l‖² w_lᵀLw_l."""
        W, C = self.operator.sides(H)
        squares = np.einsum("ij,ij->j", C, C, dtype=np.float64)
        return self.weight * float(squares @ self.laplacian.roughness(W))

    def samples_problem(self, C: Array, XC: Array, G: Array) -> RowProblem:
        """Return the problem of W, whose rows the graph joins."""
        return SmoothProblem(G, XC, self.laplacian, self.weight * np.diag(G))

    def features_problem(self, W: Array, XtW: Array, G: Array) -> RowProblem:
        """Return the problem with WᵀW + λ diag(w_lᵀLw_l)."""
        return RowProblem(G + self.weight * np.diag(self.laplacian.roughness(W)), XtW)
