"""Where a column of H that is all zero begins to grow."""

from __future__ import annotations

import numpy as np

from symclust.objectives import Objective

Array = np.ndarray


class Residual:
    """Products with R = A − H[:, :j] H[:, :j]ᵀ without its diagonal, which is never formed.

    The diagonal is left out even where an objective counts it: a sample's similarity to itself says nothing
    about its cluster.
    """

    def __init__(self, objective: Objective, H: Array, j: int) -> None:
        self.A, self.H = objective.operator, H[:, :j]
        self.diagonal = self.A.diagonal()
        self.lengths = np.einsum("il,il->i", self.H, self.H)

    def times(self, w: Array, Aw: Array) -> Array:
        """Return Rw, given Aw."""
        return Aw - self.H @ (self.H.T @ w) + (self.lengths - self.diagonal) * w

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
