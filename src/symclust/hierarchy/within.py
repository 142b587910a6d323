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
            self.note(
                node.number, self.operator if m == self.operator.n else self.operator.submatrix(node.members)
            )
        return (self._sums[node.number] + float(self.diagonal[node.members].sum())) / (2 * m * (m + 1))

    def note(self, number: int, cut: Operator) -> None:
        """Sum the similarities within node `number`, whose similarity `cut` is at hand."""
        self._sums[number] = float(cut.matvec(np.ones(cut.n, dtype=cut.dtype)).sum(dtype=np.float64))

    def average(self, nodes: list[Node]) -> float:
        """Return the average within-cluster similarity (17) of clusters met before."""
        sums = sum(self._sums.get(node.number, float(self.diagonal[node.members].sum())) for node in nodes)
        return sums / float(sum(len(node.members) ** 2 for node in nodes))
