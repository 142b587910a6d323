"""Rows or columns in an l1 ball."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust._types import Array
from symclust.constraints._threshold import project_simplex
from symclust.constraints._vectors import VectorConstraint
from symclust.validation import check_number

__all__ = ["L1"]


class L1(VectorConstraint):
    """‖h‖₁ ≤ α for every row or every column: a convex way to few large entries, constrained (28).

    A vector outside the ball is soft-thresholded, sign(h) max(|h| − τ, 0), with the τ that makes its norm α.

    Parameters
    ----------
    radius : float, default=1.0
        The bound α. It has the unit of H, the square root of that of A.
    axis : {"rows", "columns"}, default="rows"
        Which vectors are bounded.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import L1
    >>> L1().project(np.array([[0.3, -0.2], [2.0, -1.5]])).tolist()
    [[0.3, -0.2], [0.75, -0.25]]
    """

    offers: ClassVar[frozenset[str]] = frozenset({"convex"})

    def __init__(self, radius: float = 1.0, axis: str = "rows") -> None:
        check_number("radius", radius, least=0, exclusive=True)
        super().__init__(axis)
        self.radius = radius

    def _project_rows(self, V: Array) -> Array:
        magnitude = np.abs(V)
        outside = magnitude.sum(axis=1) > self.radius
        if not outside.any():
            return V
        out = V.copy()
        out[outside] = np.sign(V[outside]) * project_simplex(magnitude[outside], self.radius)
        return out

    def _violation_of_rows(self, V: Array) -> float:
        return max(np.abs(V).sum(axis=1).max() - self.radius, 0.0)
