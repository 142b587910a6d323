"""The leaf to split next: the one whose samples are least similar to each other."""

from __future__ import annotations

import numpy as np

from symclust.hierarchy.tree import Node
from symclust.operators import Operator

SINGLE = np.inf  # a single sample has no pair, and cannot be split


class Within:
    """Average similarity within a cluster, W of Arora, Gupta, Kapila and Fazel (2013), 3.3.

    W(C) = Σ_{i ≤ j in C} K_ij / (m (m + 1)) for a cluster of m samples: half of an average, which all leaves
    share.

    Parameters
    ----------
    operator : Operator
        K.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.hierarchy import Node, Within
    >>> from symclust.operators import as_operator
    >>> Within(as_operator(np.ones((4, 4))))(Node(0, np.arange(3)))
    0.5
    """

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.diagonal = operator.diagonal().astype(np.float64)
        self._sums: dict[int, float] = {}

    def __call__(self, node: Node) -> float:
        """Return W of a node's samples, infinity for a single one."""
        m = len(node.members)
        if m < 2:
            return SINGLE
        if node.number not in self._sums:
            K = self.operator if m == self.operator.n else self.operator.submatrix(node.members)
            self._sums[node.number] = float(K.degrees().sum(dtype=np.float64))
        return (self._sums[node.number] + float(self.diagonal[node.members].sum())) / (2 * m * (m + 1))

    def note_parts(self, cut: Operator, right: np.ndarray, number: int) -> None:
        """Sum the similarities within the two parts of a cluster whose similarity `cut` is at hand.

        Parameters
        ----------
        cut : Operator
            The similarity of the cluster's samples.
        right : ndarray of bool
            Which of them go right.
        number : int
            Number of the left child; the right one has the next.
        """
        Z = np.stack([~right, right], axis=1)
        sums = np.where(Z, cut @ Z.astype(cut.dtype), 0).sum(axis=0, dtype=np.float64)
        self._sums[number], self._sums[number + 1] = map(float, sums)

    def average(self, nodes: list[Node]) -> float:
        """Return the average within-cluster similarity (17) of clusters met before."""
        sums = sum(self._sums.get(node.number, float(self.diagonal[node.members].sum())) for node in nodes)
        return sums / float(sum(len(node.members) ** 2 for node in nodes))
