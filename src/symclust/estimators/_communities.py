"""Clusters as lists of members, and the same seen from the members."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from symclust.exceptions import InputError


class Communities(list[list[Any]]):
    """The members of each cluster: a list of lists that also answers for each node.

    It equals the plain list of the same lists. With overlapping clusters a node stands in several of them,
    and a node may stand in none.

    Parameters
    ----------
    clusters : iterable of lists
        The members of each cluster.
    nodes : iterable
        All nodes in their order, also those in no cluster.

    Examples
    --------
    >>> from symclust.estimators._communities import Communities
    >>> found = Communities([["ant", "bee"], ["bee", "cod"]], nodes=["ant", "bee", "cod", "dog"])
    >>> found == [["ant", "bee"], ["bee", "cod"]]
    True
    >>> found.clusters_of("bee"), found.clusters_of("dog")
    ({0, 1}, set())
    >>> found.by_node
    {'ant': {0}, 'bee': {0, 1}, 'cod': {1}, 'dog': set()}
    """

    def __init__(self, clusters: Iterable[list[Any]], nodes: Iterable[Any]) -> None:
        super().__init__(clusters)
        self._nodes = list(nodes)

    @cached_property
    def by_node(self) -> dict[Hashable, set[int]]:
        """The set of clusters of each node, in the order of the nodes; nodes of one name share a set."""
        clusters: dict[Hashable, set[int]] = {node: set() for node in self._nodes}
        for cluster, members in enumerate(self):
            for node in members:
                clusters[node].add(cluster)
        return clusters

    def clusters_of(self, node: Hashable) -> set[int]:
        """Return the numbers of the clusters that a node belongs to."""
        if node not in self.by_node:
            raise InputError(
                f"{node!r} is not one of the {len(self._nodes)} nodes. Nodes are called as in the graph that "
                "was fitted; samples are called by their number, from 0 on."
            )
        return self.by_node[node]


def belongs_by_label(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Whether a sample belongs to a cluster, n × k: each to exactly one."""
    return labels[:, np.newaxis] == np.arange(n_clusters)


def belongs_by_share(H: np.ndarray, threshold: float) -> np.ndarray:
    """Whether a sample belongs to a cluster, n × k: where h_il reaches a share of its row's largest entry."""
    return (threshold * H.max(axis=1, keepdims=True) <= H) & (H > 0)


def communities(belongs: np.ndarray, nodes: Iterable[Any]) -> Communities:
    """Return the members of each cluster from the table of who belongs where."""
    nodes = list(nodes)
    return Communities(([nodes[i] for i in np.flatnonzero(column)] for column in belongs.T), nodes)
