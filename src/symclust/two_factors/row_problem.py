"""The least squares problem of one factor while the other stands still."""

from __future__ import annotations

import numpy as np

from symclust import _kernels
from symclust._threads import split
from symclust._types import Array
from symclust.constraints import Constraint
from symclust.nnls import hals

__all__ = ["RowProblem"]

MEASURED_ROWS = 1 << 11  # few enough for their gradient to stay in the cache


class RowProblem:
    """Minimise ½ tr(YGYᵀ) − ⟨R, Y⟩ over Y ≥ 0: a problem for each row of Y by itself.

    Both arrays are made for this problem and belong to it.

    Parameters
    ----------
    left : ndarray of shape (k, k)
        G, the Gram matrix of the other factor and what regularises this one; no negative entry.
    right : ndarray of shape (n, k)
        R, the product of the data with the other factor, less what is known of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.two_factors import RowProblem
    >>> problem = RowProblem(np.eye(2), np.array([[1.0, -1.0]]))
    >>> problem.gradient(np.array([[1.0, 0.0]])).tolist()
    [[0.0, 1.0]]
    """

    def __init__(self, left: Array, right: Array) -> None:
        self.left, self.right = np.asarray(left, dtype=right.dtype), right

    def gradient(self, Y: Array) -> Array:
        """Return YG − R."""
        gradient = Y @ self.left
        gradient -= self.right
        return gradient

    def squared_slope(self, Y: Array, constraint: Constraint) -> float:
        """Return the squared norm of the projected gradient, holding that of some rows at a time."""
        total = 0.0
        for rows in split(len(Y), MEASURED_ROWS):
            gradient = RowProblem(self.left, self.right[rows]).gradient(Y[rows])
            projected = constraint.projected_gradient(Y[rows], gradient).reshape(-1)
            total += _kernels.inner(projected, projected)
        return total

    def parts(self, Y: Array) -> tuple[Array, Array]:
        """Return (repulsion, attraction) without negative entries; the gradient is their difference."""
        return Y @ self.left + np.maximum(-self.right, 0), np.maximum(self.right, 0)

    def sweep(self, Y: Array) -> Array:
        """Return Y after its entries were set to their best values, one column after the other."""
        return hals(self.left, self.right, Y)

    def lipschitz(self) -> float:
        """Return the largest curvature, the largest eigenvalue of G."""
        return float(np.linalg.eigvalsh(self.left.astype(np.float64))[-1])
