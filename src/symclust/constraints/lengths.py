"""Rows or columns of length 1; columns that are also orthogonal."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust._types import Array
from symclust.constraints._base import Constraint, VectorConstraint
from symclust.exceptions import InputError

__all__ = ["Orthogonal", "Unit"]


class Unit(VectorConstraint):
    """‖h‖₂ = 1 for every row or every column, constrained (25).

    With unit rows HHᵀ has ones on its diagonal, like cosine similarities. The projection divides a vector by
    its length; to the zero vector all unit vectors are equally near, and the one with equal entries is taken.

    Parameters
    ----------
    axis : {"rows", "columns"}, default="rows"
        Which vectors have length 1.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import Unit
    >>> Unit().project(np.array([[3.0, -4.0]])).tolist()
    [[0.6, -0.8]]
    """

    on_device: ClassVar[bool] = True

    def _project_rows(self, V: Array) -> Array:
        # Scaled first: squares of very large or small entries would overflow or vanish.
        largest = np.abs(V).max(axis=1, keepdims=True)
        even = largest < np.finfo(V.dtype).tiny
        V = np.where(even, 1, V / np.where(even, 1, largest)).astype(V.dtype, copy=False)
        V /= np.linalg.norm(V, axis=1, keepdims=True)
        return V

    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """The part of the gradient along the sphere, ∇ − h⟨h, ∇⟩ for each vector h."""
        along = 1 if self.by_rows else 0
        return gradient - H * np.sum(H * gradient, axis=along, keepdims=True)

    def _violation_of_rows(self, V: Array) -> float:
        return np.abs(np.linalg.norm(V, axis=1) - 1).max()


class Orthogonal(Constraint):
    """HᵀH = I: the relaxation of spectral clustering.

    The projection is the polar factor UVᵀ of H = UΣVᵀ (constrained, Example IV, with its transposes put
    right); if H lacks full rank it is one of several nearest points.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import Orthogonal
    >>> Orthogonal().project(np.array([[2.0, 0.0], [0.0, -3.0], [0.0, 0.0]])).round(6).tolist()
    [[1.0, 0.0], [0.0, -1.0], [0.0, 0.0]]
    """

    by_rows = False
    on_device: ClassVar[bool] = True

    def project(self, H: Array) -> Array:
        """The polar factor."""
        if H.shape[0] < H.shape[1]:
            raise InputError(
                f"{H.shape[1]} orthonormal columns need at least as many rows; H has shape {H.shape}."
            )
        left, _, right = np.linalg.svd(H, full_matrices=False)
        return left @ right

    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """The part of the gradient along the set, ∇ − H (Hᵀ∇ + ∇ᵀH)/2."""
        inside = H.T @ gradient
        return gradient - H @ ((inside + inside.T) / 2)

    def violation(self, H: Array) -> float:
        """The largest entry of HᵀH − I."""
        return float(np.abs(H.T @ H - np.eye(H.shape[1])).max(initial=0.0))
