"""Graph-regularised NMF: samples joined in a graph have similar memberships."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust._types import Array
from symclust.constraints import Constraint
from symclust.operators import Bipartite, Operator
from symclust.two_factors.objective import RowProblem, TwoFactors

SWEEPS = 5  # over W before it is C's turn


class Smooth(TwoFactors):
    r"""The memberships vary little over a graph S of the samples (Cai, He, Han and Huang 2011).

    .. math:: f(W, C) = \|X - WC^T\|_F^2 + \lambda \sum_l \|c_l\|^2 w_l^T L w_l, \quad L = D - S

    With columns c_l of length 1 this is the paper's λ tr(WᵀLW). Written so, it does not change when a column
    of C grows and that of W shrinks. The paper's form does: it has no minimum, since W → 0 removes its term,
    and the paper scales the columns to length 1 once its iterations have ended.
    """

    separate_rows: ClassVar[bool] = False

    def __init__(self, operator: Bipartite, graph: Operator, weight: float) -> None:
        super().__init__(operator)
        self.laplacian, self.weight = Laplacian(graph), float(weight)

    def penalty(self, H: Array) -> float:
        """λ Σ ‖c_l‖² w_lᵀLw_l."""
        W, C = self.operator.sides(H)
        squares = np.einsum("ij,ij->j", C, C, dtype=np.float64)
        return self.weight * float(squares @ self.laplacian.roughness(W))

    def samples_problem(self, C: Array, XC: Array, G: Array) -> RowProblem:
        """The problem of W, whose rows the graph joins."""
        return SmoothProblem(G, XC, self.laplacian, self.weight * np.diag(G))

    def features_problem(self, W: Array, XtW: Array, G: Array) -> RowProblem:
        """The problem with WᵀW + λ diag(w_lᵀLw_l)."""
        return RowProblem(G + self.weight * np.diag(self.laplacian.roughness(W)), XtW)


class SmoothAsPrinted(Smooth):
    r"""The same with the term of the paper, for comparison.

    .. math:: f(W, C) = \|X - WC^T\|_F^2 + \lambda \operatorname{tr}(W^T L W)
    """

    def penalty(self, H: Array) -> float:
        """λ tr(WᵀLW)."""
        return self.weight * float(self.laplacian.roughness(self.operator.sides(H)[0]).sum())

    def samples_problem(self, C: Array, XC: Array, G: Array) -> RowProblem:
        """The problem of W, whose rows the graph joins."""
        return SmoothProblem(G, XC, self.laplacian, np.full(len(G), self.weight))

    def features_problem(self, W: Array, XtW: Array, G: Array) -> RowProblem:
        """The problem of C, which the term leaves alone."""
        return RowProblem(G, XtW)


class SmoothProblem(RowProblem):
    """Minimise ½ tr(YGYᵀ) − ⟨R, Y⟩ + ½ Σ_l t_l y_lᵀLy_l over Y ≥ 0, with G on the left and R on the right.

    The `weights` t are those of the graph in each column.
    """

    def __init__(self, left: Array, right: Array, laplacian: Laplacian, weights: Array) -> None:
        super().__init__(left, right)
        self.laplacian, self.weights = laplacian, weights.astype(right.dtype)

    def gradient(self, Y: Array) -> Array:
        """YG − R + LY diag(t)."""
        gradient = super().gradient(Y)
        gradient += (self.laplacian @ Y) * self.weights
        return gradient

    def squared_slope(self, Y: Array, constraint: Constraint) -> float:
        """The squared norm of the projected gradient; the graph joins all rows."""
        return float(np.sum(np.square(constraint.projected_gradient(Y, self.gradient(Y)), dtype=np.float64)))

    def parts(self, Y: Array) -> tuple[Array, Array]:
        """(repulsion, attraction) of the multiplicative update (Cai et al., equation (14))."""
        repulsion, attraction = super().parts(Y)
        degrees, neighbours = self.laplacian.parts(Y)
        return repulsion + degrees * self.weights, attraction + neighbours * self.weights

    def sweep(self, Y: Array) -> Array:
        """Y after some sweeps over its columns, each with one product with the graph.

        A single one spreads memberships to neighbours and no further, and costs little beside the products
        with X that follow. Without weight it is one sweep, as in plain NMF.
        """
        for _ in range(SWEEPS if self.weights.any() else 1):
            Y = self._sweep_once(Y)
        return Y

    def _sweep_once(self, Y: Array) -> Array:
        """Lower a bound that touches the problem at Y.

        2D − L = D + S is positive semidefinite, so yᵀLy ≤ 2yᵀDy − 2yᵀ(D + S)z + zᵀ(D + S)z, with equality at
        y = z, the Y before the sweep. On the right no entry of a column depends on another, and lowering
        that lowers the problem.
        """
        before, neighbours = self.laplacian.parts(Y)
        right = self.right + (before + neighbours) * self.weights
        stiffness = 2 * self.laplacian.degrees[:, None] * self.weights + np.diag(self.left)
        Y = np.array(Y, order="F")
        for l in range(Y.shape[1]):
            others = Y @ self.left[:, l] - self.left[l, l] * Y[:, l]
            best = np.maximum(right[:, l] - others, 0)
            np.divide(best, stiffness[:, l], out=Y[:, l], where=stiffness[:, l] > 0)
        return np.ascontiguousarray(Y)

    def lipschitz(self) -> float:
        """A bound of the largest curvature: no eigenvalue of L exceeds twice the largest degree."""
        return super().lipschitz() + 2 * float(self.laplacian.degrees.max()) * float(self.weights.max())


class Laplacian:
    """L = D − S for nonnegative similarities S with row sums D."""

    def __init__(self, graph: Operator) -> None:
        self.graph = graph
        self.degrees = graph.degrees()

    def parts(self, W: Array) -> tuple[Array, Array]:
        """DW and SW."""
        return self.degrees[:, None] * W, self.graph @ W

    def __matmul__(self, W: Array) -> Array:
        """LW."""
        product, neighbours = self.parts(W)
        product -= neighbours
        return product

    def roughness(self, W: Array) -> Array:
        """w_lᵀLw_l = ½ Σ s_ij (w_il − w_jl)² for each column, at least zero, in double precision."""
        return np.maximum(np.einsum("ij,ij->j", W, self @ W, dtype=np.float64), 0)
