"""The report's tree of clusters, as rows of an indented list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symclust.report._clusters import mostly, top_names
from symclust.report._strength import Strength

__all__ = ["TreeRow", "cluster_terms", "tree_nodes", "tree_rows"]

OPEN_SPLITS = 30  # the page begins with so many splits unfolded, those that were made first
N_NAMES = 5  # members listed beside a node that has no terms


@dataclass(frozen=True)
class TreeRow:
    """A node. Its children are the rows after it, down to where `n_closed` ends its list."""

    name: str
    size: int
    is_leaf: bool
    is_open: bool
    n_closed: int  # lists of children that end after this row
    words: list[str]
    mostly: str
    examples: list[str]


def tree_nodes(model: Any) -> list[Any]:
    """Return the nodes of a model's tree from the root down and from left to right; none without splits."""
    tree = getattr(model, "tree_", None)
    nodes = getattr(model, "topics", []) if tree is None else list(tree.walk())
    return list(nodes) if len(nodes) > 1 else []


def tree_rows(
    nodes: Sequence[Any],
    strength: Strength,
    count: int,
    labels_true: NDArray[np.generic] | None,
    feature_names: Sequence[object] | None,
    names: Sequence[object] | None,
) -> list[TreeRow]:
    """One row for each node, in the order of `tree_nodes`."""
    leaves = (str(label) for label in range(len(nodes)))
    depths = [*(node.depth for node in nodes), 0]
    rows = []
    for node, (depth, following) in zip(nodes, pairwise(depths), strict=True):
        members = _members(node)
        words = node_terms(node, count, feature_names)
        if not words and names is not None and strength.values.ndim == 1:
            words = [str(names[i]) for i in strength.strongest(members, None, N_NAMES)]
        if node.parent is None:  # nothing sets it apart
            words = ["all samples"]
        rows.append(
            TreeRow(
                name=next(leaves) if node.is_leaf else "",
                size=len(members),
                is_leaf=node.is_leaf,
                # Children are numbered as splits are made, two at a time: parents are open before children.
                is_open=not node.is_leaf and min(node.children) < 2 * OPEN_SPLITS,
                n_closed=max(0, depth - following),
                words=words,
                mostly="" if labels_true is None else mostly(labels_true[members]),
                examples=[e.excerpt or e.name for e in getattr(node, "examples", ()) if node.is_leaf],
            )
        )
    return rows


def node_terms(node: Any, count: int, feature_names: Sequence[object] | None) -> list[str]:
    """Return the terms of a node: of a topic its own, else the features of largest weight, where named."""
    if hasattr(node, "terms"):
        return [term for term, _ in node.terms[:count]]
    if feature_names is None or "terms" not in node.data:
        return []
    return [str(feature_names[j]) for j in node.data["terms"][:count]]


def cluster_terms(
    model: Any, nodes: Sequence[Any], count: int, feature_names: Sequence[object] | None
) -> list[list[str]]:
    """Return the terms of each cluster, of the leaves of a tree or by `components_`; none where unknown."""
    if nodes:
        return [node_terms(node, count, feature_names) for node in nodes if node.is_leaf]
    C = np.asarray(getattr(model, "components_", np.empty((0, 0))))
    if feature_names is None or C.shape[1] != len(feature_names):
        return []
    return [top_names(row, feature_names, count) for row in C]


def _members(node: Any) -> NDArray[np.intp]:
    return np.asarray(node.documents if hasattr(node, "documents") else node.members)
