"""Clusters as lists of members, and the same seen from the members, one by one or in a table."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from symclust._optional import need
from symclust._threads import cached_property
from symclust._types import Array
from symclust.exceptions import InputError


class Communities(list[list[Any]]):
    """The members of each cluster: a list of lists that also answers for each node.

    It equals the plain list of the same lists. With overlapping clusters a node stands in several of them,
    and a node may stand in none.

    `nodes` are all nodes in their order, also those in no cluster.
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
        """The numbers of the clusters that a node belongs to."""
        if node not in self.by_node:
            raise InputError(
                f"{node!r} is not one of the {len(self._nodes)} nodes. Nodes are called as in the graph that "
                "was fitted, samples as in the index of the table; without names by number, from 0 on."
            )
        return self.by_node[node]


def members_by_label(labels: np.ndarray, n_clusters: int) -> list[np.ndarray]:
    """The samples of each cluster; those with label −1 are in none."""
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(n_clusters + 1))
    return [order[first:last] for first, last in pairwise(ends)]


def members_by_share(H: Any, labels: np.ndarray, threshold: float) -> list[np.ndarray]:
    """The samples of each cluster: where h_il > 0 reaches a share of its row's largest entry.

    Time and memory follow the entries of H, which may be a CSR array.
    """
    entries = sparse.coo_array(H)
    (rows, columns), values = entries.coords, entries.data
    largest = np.zeros(H.shape[0], dtype=values.dtype)
    np.maximum.at(largest, rows, values)
    belongs = (values > 0) & (values >= threshold * largest[rows]) & (labels[rows] >= 0)
    rows, columns = rows[belongs], columns[belongs]
    order = np.argsort(columns, kind="stable")
    ends = np.searchsorted(columns[order], np.arange(H.shape[1] + 1))
    return [rows[order[first:last]] for first, last in pairwise(ends)]


def named_members(members: Iterable[np.ndarray], nodes: Iterable[Any]) -> Communities:
    """Clusters of nodes from clusters of their numbers."""
    nodes = list(nodes)
    return Communities(([nodes[i] for i in numbers] for numbers in members), nodes)


def sample_table(labels: Array, H: Any, names: list[Any] | None, confidence: Array) -> Any:
    """A DataFrame with the label, confidence and memberships of each sample."""
    pandas = need("pandas", "tables", "A table")
    index = None if names is None else pandas.Index(names, name="name", tupleize_cols=False)
    columns = [f"cluster_{number}" for number in range(H.shape[1])]
    if sparse.issparse(H):  # as many columns as clusters, nearly all of it zero
        memberships = pandas.DataFrame.sparse.from_spmatrix(sparse.csr_array(H), index, columns)
    else:
        memberships = pandas.DataFrame(np.asarray(H), index, columns)
    found = pandas.DataFrame({"label": labels, "confidence": confidence}, index=index)
    return pandas.concat([found, memberships], axis=1)
