"""Where a column of H that is all zero begins to grow."""

from __future__ import annotations

import numpy as np

from symclust.objectives import Objective

Array = np.ndarray


class Residual:
    """R = A − H[:, :j] H[:, :j]ᵀ without its diagonal, seen through products and never formed.

    The diagonal is left out even where an objective counts it: a sample's similarity to itself says nothing
    about its cluster.
    """

    def __init__(self, objective: Objective, H: Array, j: int) -> None:
        self.A, self.H = objective.operator, H[:, :j]
        self.own = np.einsum("il,il->i", self.H, self.H) - self.A.diagonal()

    def degrees(self, degrees: Array) -> Array:
        """Return the row sums of R, given those of A."""
        return degrees - self.H @ self.H.sum(axis=0) + self.own

    def row(self, i: int) -> Array:
        """Return row i of R."""
        row = self.A.rows([i])[0] - self.H @ self.H[i]
        row[i] = 0
        return row


def seed_height(residual: Residual, i: int) -> float:
    """Return the first entry of a column: the root of the largest entry in its row of the residual.

    For a binary similarity that is the 1 of Algorithm 5, line 14; and H scales as the root of A does.
    """
    return float(np.sqrt(max(residual.row(i).max(initial=0.0), 0.0)))
