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
        """Return W of a node's samples."""
        m = len(node.members)
        if m < 2:
            return SINGLE
        if node.number not in self._sums:
            self.note(self.operator.submatrix(node.members), [node])
        return (self._sums[node.number] + float(self.diagonal[node.members].sum())) / (2 * m * (m + 1))

    def note(self, cut: Operator, nodes: list[Node]) -> None:
        """Sum the similarities within nodes whose samples, one after the other, are the rows of `cut`."""
        sizes = [len(node.members) for node in nodes]
        Z = np.repeat(np.eye(len(nodes)), sizes, axis=0)
        sums = (Z * (cut @ Z)).sum(axis=0, dtype=np.float64)
        for node, total in zip(nodes, sums, strict=True):
            self._sums[node.number] = float(total)
