"""Nonnegative and orthogonal together: at most one entry a row."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust._types import Array
from symclust.constraints._base import Constraint

__all__ = ["OnePerRow"]


class OnePerRow(Constraint):
    """H ≥ 0 with orthogonal columns: every row has at most one entry that is not zero, as in k-means.

    Nonnegative columns are orthogonal exactly if no row has entries in two of them, and that is the set:
    HᵀH is diagonal. The projection onto it is exact: keep the largest entry of each row if it is positive
    (the first of several equal ones), and nothing otherwise. The lengths of the columns stay free, since the
    objective itself finds the best ones; with columns of length 1 in addition, where a row belongs would
    depend on all other rows and the nearest point would be a combinatorial problem.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import OnePerRow
    >>> OnePerRow().project(np.array([[1.0, 3.0], [2.0, -5.0], [-1.0, -2.0]])).tolist()
    [[0.0, 3.0], [2.0, 0.0], [0.0, 0.0]]
    """

    nonnegative: ClassVar[bool] = True
    most_per_row = 1

    def project(self, H: Array) -> Array:
        """Keep the largest entry of each row where it is positive."""
        rows, best = np.arange(len(H)), H.argmax(axis=1)
        out = np.zeros_like(H)
        out[rows, best] = np.maximum(H[rows, best], 0)
        return out

    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """Keep the gradient at the entry of each row; in a row of zeros its most negative entry."""
        rows = np.arange(len(H))
        best = np.where(H.any(axis=1), H.argmax(axis=1), gradient.argmin(axis=1))
        out = np.zeros_like(gradient)
        slope = gradient[rows, best]
        out[rows, best] = np.where(H[rows, best] > 0, slope, np.minimum(slope, 0))
        return out

    def random(self, shape: tuple[int, int], rng: np.random.RandomState, level: float = 1.0) -> Array:
        """Return a random assignment with positive entries."""
        return self.project(level * np.abs(rng.standard_normal(shape)))

    def violation(self, H: Array) -> float:
        """Return how far an entry lies below zero, or the largest second entry of a row."""
        if not H.size:
            return 0.0
        second = np.sort(H, axis=1)[:, -2].max() if H.shape[1] > 1 else 0.0
        return float(max(0.0, -H.min(), second))
