"""The least squares problem of memberships that a graph joins."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.constraints import Constraint
from symclust.two_factors.laplacian import Laplacian
from symclust.two_factors.row_problem import RowProblem

__all__ = ["SmoothProblem"]


class SmoothProblem(RowProblem):
    """Minimise ½ tr(YGYᵀ) − ⟨R, Y⟩ + ½ Σ_l t_l y_lᵀLy_l over Y ≥ 0.

    Parameters
    ----------
    left, right : ndarray
        G and R.
    laplacian : Laplacian
        L.
    weights : ndarray of shape (k,)
        t, the weight of the graph in each column.
    """

    def __init__(self, left: Array, right: Array, laplacian: Laplacian, weights: Array) -> None:
        super().__init__(left, right)
        self.laplacian, self.weights = laplacian, weights.astype(right.dtype)

    def gradient(self, Y: Array) -> Array:
        """Return YG − R + LY diag(t)."""
        gradient = super().gradient(Y)
        gradient += (self.laplacian @ Y) * self.weights
        return gradient

    def squared_slope(self, Y: Array, constraint: Constraint) -> float:
        """Return the squared norm of the projected gradient; the graph joins all rows."""
        return float(np.sum(np.square(constraint.projected_gradient(Y, self.gradient(Y)), dtype=np.float64)))

    def parts(self, Y: Array) -> tuple[Array, Array]:
        """Return (repulsion, attraction) of the multiplicative update (Cai et al., equation (14))."""
        repulsion, attraction = super().parts(Y)
        degrees, neighbours = self.laplacian.parts(Y)
        return repulsion + degrees * self.weights, attraction + neighbours * self.weights

    def sweep(self, Y: Array) -> Array:
        """Return Y after a sweep over its columns, with one product with the graph.

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
        """Return a bound of the largest curvature: no eigenvalue of L exceeds twice the largest degree."""
        return super().lipschitz() + 2 * float(self.laplacian.degrees.max()) * float(self.weights.max())
