"""Orthonormal columns."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.constraints._base import Constraint
from symclust.exceptions import InputError

__all__ = ["Orthogonal"]


class Orthogonal(Constraint):
    """HᵀH = I: what spectral clustering relaxes to.

    The projection is the polar factor UVᵀ of H = UΣVᵀ (constrained, Example IV, with its transposes put
    right); where H lacks full rank it is one of several nearest points.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import Orthogonal
    >>> Orthogonal().project(np.array([[2.0, 0.0], [0.0, -3.0], [0.0, 0.0]])).round(6).tolist()
    [[1.0, 0.0], [0.0, -1.0], [0.0, 0.0]]
    """

    by_rows = False

    def project(self, H: Array) -> Array:
        """Return the polar factor."""
        if H.shape[0] < H.shape[1]:
            raise InputError(
                f"{H.shape[1]} orthonormal columns need at least as many rows; H has shape {H.shape}."
            )
        left, _, right = np.linalg.svd(H, full_matrices=False)
        return left @ right

    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """Return the part of the gradient along the set, ∇ − H (Hᵀ∇ + ∇ᵀH)/2."""
        inside = H.T @ gradient
        return gradient - H @ ((inside + inside.T) / 2)

    def violation(self, H: Array) -> float:
        """Return the largest entry of HᵀH − I."""
        return float(np.abs(H.T @ H - np.eye(H.shape[1])).max(initial=0.0))
