"""Grow a tree leaf by leaf: by a function that splits, the least similar cluster first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symclust._types import Array
from symclust.hierarchy.tree import Node, Tree
from symclust.operators import Operator
from symclust.validation import is_true

Split = Callable[[Node], Sequence[Any] | None]
Priority = Callable[[Node], float]

SINGLE = np.inf  # a single sample has no pair, and cannot be split
ROUNDING = 4  # errors, in units of the last digit, within which values are tied: the same on any scale


def grow(
    tree: Tree,
    n_leaves: float,
    split: Split,
    priority: Priority,
    is_over: Callable[[], bool] = lambda: False,
    after: Callable[[int, float], object] | None = None,
) -> Tree:
    """Split the leaf of lowest priority until there are `n_leaves`, or none that can be split.

    Ctrl-C ends it with the tree grown so far, see `Tree.interruptible`.

    The tree grows in place; if `n_leaves` is infinite, until no leaf can be split. `split` returns the
    samples of a node's children, or None if it cannot be split; `priority` returns a number, computed once
    and kept as the node's score. `is_over` is called before each split and may end the growth; `after` is
    called after each with the number of splits and the priority of the node, and returns True to stop.
    """
    open_leaves = tree.leaves()
    n_closed = 0
    with tree.interruptible():
        for node in open_leaves:
            node.score = float(priority(node))
        while open_leaves and len(open_leaves) + n_closed < n_leaves and not is_over():
            node = open_leaves.pop(int(np.argmin([node.score for node in open_leaves])))
            parts = split(node) if len(node.members) > 1 else None
            if parts is None:
                node.is_final = True
                n_closed += 1
                continue
            children = tree.split(node.number, parts)
            for child in children:
                child.score = float(priority(child))
            open_leaves += children
            if after is not None and is_true(after(tree.n_splits, node.score)):
                break
    return tree


class Within:
    """Average similarity within a cluster, W of Arora, Gupta, Kapila and Fazel (2013), 3.3.

    W(C) = Σ_{i ≤ j in C} K_ij / (m (m + 1)) for a cluster of m samples: half of an average, which all leaves
    share. The leaf where it is lowest is split next.
    """

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.diagonal = operator.diagonal().astype(np.float64)
        self._sums: dict[int, float] = {}

    def __call__(self, node: Node) -> float:
        """W of a node's samples, infinity for a single one."""
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
        """The average within-cluster similarity (17) of clusters met before."""
        sums = sum(self._sums.get(node.number, float(self.diagonal[node.members].sum())) for node in nodes)
        return sums / float(sum(len(node.members) ** 2 for node in nodes))


def splinter(operator: Operator) -> Array | None:
    """Mask of the samples that leave a cluster, as DIANA splits it; None for a single sample.

    The sample of least average similarity to the others leaves first. Then, one by one, the sample whose
    average similarity to those that left exceeds that to those that stay the most (Arora, Gupta, Kapila and
    Fazel 2013, (16)), until there is none. A step reads one row of K.
    """
    n = operator.n
    if n < 2:
        return None
    left = np.zeros(n, dtype=bool)
    sums = operator.degrees()
    unit = ROUNDING * float(np.finfo(sums.dtype).eps)
    rounding = unit * float(np.abs(sums).max())
    to_old = (sums - operator.diagonal()).astype(np.float64)  # similarity to the others that stay
    to_new = np.zeros(n)
    mover = _first_largest(-to_old, rounding)
    for gone in range(1, n):
        left[mover] = True
        row = operator.rows(np.array([mover]))[0].astype(np.float64)
        to_new += row
        to_old -= row
        stay = n - gone - 1  # besides the one that is looked at
        if stay == 0:
            break
        gain = to_new / gone - to_old / stay  # (16)
        gain[left] = -np.inf
        slack = rounding / stay + unit * float(np.abs(row).max())
        mover = _first_largest(gain, slack)
        if gain[mover] <= slack:
            break
    return left


def _first_largest(values: Array, slack: float) -> int:
    """The first of the largest values, including those that differ by rounding alone."""
    return int(np.argmax(values >= values.max() - slack))
