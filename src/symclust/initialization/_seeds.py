"""Where a column of H that is all zero begins to grow."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.operators import Operator


class Residual:
    """R = A − H[:, :j] H[:, :j]ᵀ, what the columns so far do not explain; never formed.

    The diagonal of A takes no part. In its place stands one number, the largest similarity that the
    best-connected sample has to another: a sample is as similar to itself as samples are to each other. It
    makes direct ties count beside those through common neighbours. For a binary similarity it is 1.

    Attributes
    ----------
    level : float
        That number; zero where nothing is left to explain.
    seed : int
        The sample with the largest sum of similarities in R.
    """

    def __init__(self, operator: Operator, H: Array, j: int, degrees: Array) -> None:
        self.A, self.H = operator, H[:, :j]
        diagonal = self.A.diagonal()
        sums = degrees - self.H @ self.H.sum(axis=0)
        lengths = np.einsum("il,il->i", self.H, self.H)
        self.level = max(float(self._row(int((sums + lengths - diagonal).argmax())).max(initial=0.0)), 0.0)
        self.own = self.level - diagonal
        self.seed = int((sums + self.own).argmax())

    @property
    def height(self) -> float:
        """The first entry of a column: 1 for a binary similarity, as in Algorithm 5, line 14."""
        return float(np.sqrt(self.level))

    def _row(self, i: int) -> Array:
        row = self.A.row(i) - self.H @ self.H[i]
        row[i] = 0
        return row
