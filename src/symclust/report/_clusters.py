"""What the page says of clusters and of their tree: sizes, terms, and which samples are typical."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from symclust._types import Array
from symclust.report._pictures import grey_picture

__all__ = ["Strength", "cluster_rows", "cluster_terms", "tree_nodes", "tree_rows"]

OPEN_SPLITS = 30  # the page begins with so many splits unfolded, those that were made first
N_NAMES = 5  # members listed beside a node that has no terms


@dataclass(frozen=True)
class Strength:
    """How strongly samples belong to their clusters, by the best measure that a model offers.

    Attributes
    ----------
    name : str
        What the strongest are called on the page.
    values : ndarray or csr_array of shape (n_samples,) or (n_samples, n_clusters)
        By sample, or by sample and cluster.
    n_clusters : int
        Number of clusters, also of empty ones.
    """

    name: str
    values: Any
    n_clusters: int

    @classmethod
    def of(cls, model: Any) -> Strength:
        """Read it off a model: degrees of membership, else connections, else nothing."""
        labels = np.asarray(model.labels_)
        n_clusters = int(labels.max(initial=-1)) + 1
        H = _memberships(model)
        if H is not None:
            n_clusters = H.shape[1]
            if _has_degrees(model, H):
                return cls("Strongest members", H, n_clusters)
        A = getattr(model, "affinity_matrix_", None)
        if A is None:
            return cls("Members", np.zeros(len(labels)), n_clusters)
        degrees = np.asarray(A @ np.ones(len(labels), dtype=A.dtype), dtype=np.float64)
        return cls("Best connected members", degrees, n_clusters)

    def strongest(self, members: Array, cluster: int | None, count: int) -> Array:
        """Return the strongest of some samples in a cluster, strongest first."""
        values = self.values[members] if self.values.ndim == 1 else self._column(cluster)[members]
        return members[np.argsort(-values, kind="stable")[:count]]

    def _column(self, cluster: int | None) -> Array:
        column = self.values[:, [cluster]]
        return (column.toarray() if sparse.issparse(column) else column)[:, 0]


def _memberships(model: Any) -> Any:
    """Return H; None for trees whose leaves do not overlap, where n × k zeros and ones say nothing new."""
    if hasattr(model, "tree_") and not getattr(model, "soft", False):
        return None
    H = getattr(model, "membership_", None)
    return H if H is None or sparse.issparse(H) else np.asarray(H)


def _has_degrees(model: Any, H: Any) -> bool:
    """Whether column l of H says how much samples belong to cluster l, more than yes or no."""
    H = H.data if sparse.issparse(H) else H
    by_k_means = getattr(model, "centers_", None) is not None
    return not by_k_means and bool(((H != 0) & (H != 1)).any())


@dataclass(frozen=True)
class ClusterRow:
    """What the page says about one cluster."""

    name: str
    size: int
    share: float
    width: float  # of its bar, in percent of the largest cluster's
    mostly: str = ""
    terms: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def cluster_rows(
    labels: Array,
    strength: Strength,
    count: int,
    labels_true: Array | None,
    terms: list[list[str]],
    pixels: Array | None,
    names: Sequence[object] | None,
) -> list[ClusterRow]:
    """One row for each cluster; samples in none, labelled -1, have no row."""
    sizes = np.bincount(labels[labels >= 0], minlength=strength.n_clusters)
    rows = []
    for c, size in enumerate(sizes.tolist()):
        members = np.flatnonzero(labels == c)
        typical = strength.strongest(members, c, count)
        rows.append(
            ClusterRow(
                name=str(c),
                size=size,
                share=size / len(labels),
                width=100 * size / max(1, sizes.max()),
                mostly="" if labels_true is None else _mostly(labels_true[members]),
                terms=terms[c] if terms else [],
                pictures=[] if pixels is None else [grey_picture(pixels[i]) for i in typical],
                names=[] if names is None else [str(names[i]) for i in typical],
            )
        )
    return rows


def _mostly(classes: Array) -> str:
    """Return the most frequent class and its share."""
    if not len(classes):
        return "(empty)"
    names, counts = np.unique(classes, return_counts=True)
    best = counts.argmax()
    return f"{names[best]} ({counts[best] / len(classes):.0%})"


def _top_names(weights: Array, names: Sequence[object], count: int) -> list[str]:
    """Return the names of the largest positive weights, largest first."""
    order = np.argsort(-weights, kind="stable")[:count]
    return [str(names[j]) for j in order if weights[j] > 0]


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
    labels_true: Array | None,
    feature_names: Sequence[object] | None,
    names: Sequence[object] | None,
) -> list[TreeRow]:
    """One row for each node, in the order of `tree_nodes`."""
    leaves = (str(label) for label in range(len(nodes)))
    depths = [*(node.depth for node in nodes), 0]
    rows = []
    for node, (depth, following) in zip(nodes, pairwise(depths), strict=True):
        members = _members(node)
        words = _node_terms(node, count, feature_names)
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
                mostly="" if labels_true is None else _mostly(labels_true[members]),
                examples=[e.excerpt or e.name for e in getattr(node, "examples", ()) if node.is_leaf],
            )
        )
    return rows


def _node_terms(node: Any, count: int, feature_names: Sequence[object] | None) -> list[str]:
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
        return [_node_terms(node, count, feature_names) for node in nodes if node.is_leaf]
    C = np.asarray(getattr(model, "components_", np.empty((0, 0))))
    if feature_names is None or C.shape[1] != len(feature_names):
        return []
    return [_top_names(row, feature_names, count) for row in C]


def _members(node: Any) -> Array:
    return np.asarray(node.documents if hasattr(node, "documents") else node.members)
