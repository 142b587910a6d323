"""Grow a tree leaf by leaf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symclust.hierarchy.tree import Node, Tree
from symclust.validation import says_stop

Split = Callable[[Node], Sequence[Any] | None]
Priority = Callable[[Node], float]


def grow(
    tree: Tree,
    n_leaves: float,
    split: Split,
    priority: Priority,
    *,
    highest: bool = False,
    after: Callable[[Tree, Node], object] | None = None,
) -> Tree:
    """Split the leaf of lowest priority until there are `n_leaves`, or none that can be split.

    Parameters
    ----------
    tree : Tree
        Grown in place and returned.
    n_leaves : int
        Leaves wanted; infinity for as many as can be split.
    split : callable
        From a node to the samples of its children, or None where it cannot be split.
    priority : callable
        From a node to a number, computed once and kept as the node's score.
    highest : bool
        Split the leaf of highest priority instead.
    after : callable, optional
        Called with the tree and the node after each split; returning True stops.

    Examples
    --------
    >>> from symclust.hierarchy import Tree, grow
    >>> halves = lambda node: (node.members[::2], node.members[1::2])
    >>> grow(Tree(8), 3, halves, priority=lambda node: -len(node.members)).cut(3).tolist()
    [0, 2, 1, 2, 0, 2, 1, 2]
    """
    open_leaves = tree.leaves()
    n_closed = 0
    for node in open_leaves:
        node.score = float(priority(node))
    while open_leaves and len(open_leaves) + n_closed < n_leaves:
        scores = [node.score for node in open_leaves]
        place = int(np.argmax(scores) if highest else np.argmin(scores))
        node = open_leaves.pop(place)
        parts = split(node) if len(node.members) > 1 else None
        if parts is None:
            node.is_final = True
            n_closed += 1
            continue
        children = tree.split(node.number, parts)
        for child in children:
            child.score = float(priority(child))
        open_leaves += children
        if after is not None and says_stop(after(tree, node)):
            break
    return tree
