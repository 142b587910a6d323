"""A graph and smaller and smaller ones made of it by joining nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symclust._types import Array
from symclust.hierarchy.communities.cuts import child_seed
from symclust.hierarchy.communities.graph import LeafGraph

# Nodes of the graph that is cut: enough for each leaf, and enough in all. Smaller ones take no less time.
LEAF_NODES, ENOUGH = 15, 1000
# Share of the weights that has to be inside the groups of nodes: if it is less, a node belongs to its group
# by chance, and so would the tree (docs/evidence/trees.md).
HELD = 0.5
# A graph that is cut with so many times the nodes wanted takes too long, and the whole graph, of whose edges
# none have fallen together, sooner: nodes are joined further, if their groups have so many times the
# modularity that a graph without communities would have.
LARGE, LARGE_WHOLE, BEYOND_CHANCE = 8, 4, 1.5


@dataclass(frozen=True)
class Levels:
    """A graph and smaller and smaller ones made of it by joining nodes.

    `groups` has, for each graph but the last, the number of each of its nodes in the next one. If the levels
    are coarse, the smallest graph may have joined nodes of several communities.
    """

    graphs: tuple[LeafGraph, ...]
    groups: tuple[Array, ...]
    is_coarse: bool = False

    @property
    def smallest(self) -> LeafGraph:
        """The last graph."""
        return self.graphs[-1]

    @classmethod
    def joined(cls, graph: LeafGraph, enough: int, seed: int, resolution: float = 1.0) -> Levels:
        """Join nodes by local moves that raise the modularity at a resolution, again and again.

        Joining ends before there are fewer than `enough` nodes, or most of the weights would be between
        groups. If a `LARGE` graph is left, nodes are joined to fewer, unless the groups could be there by
        chance.
        """
        graphs, groups = [graph], list[Array]()
        n_fine = None  # graphs before the first that is coarse
        while graphs[-1].n > enough:
            smaller, group = graphs[-1].joined(child_seed(seed, len(groups)), None, resolution)
            if smaller.n == graphs[-1].n:
                break
            is_fine = smaller.n >= enough and smaller.loops.sum() >= HELD * graph.volumes.sum()
            if n_fine is None and not is_fine:
                if graphs[-1].n <= (LARGE if groups else LARGE_WHOLE) * enough:
                    break
                n_fine = len(graphs)
            graphs.append(smaller)
            groups.append(group)
        if n_fine is not None and modularity_of_nodes(graphs[-1]) < BEYOND_CHANCE * by_chance(graph):
            return cls(tuple(graphs[:n_fine]), tuple(groups[: n_fine - 1]))
        return cls(tuple(graphs), tuple(groups), is_coarse=n_fine is not None)

    @classmethod
    def within(cls, graph: LeafGraph, labels: Array | None, seed: int, resolution: float = 1.0) -> Levels:
        """Join nodes of one label, or any without labels, until none is left to join."""
        graphs, groups = [graph], list[Array]()
        while True:
            smaller, group = graphs[-1].joined(child_seed(seed, len(groups)), labels, resolution)
            if smaller.n == graphs[-1].n:
                return cls(tuple(graphs), tuple(groups))
            graphs.append(smaller)
            groups.append(group)
            labels = None if labels is None else of_groups(labels, group, smaller.n)

    def down(self, labels: Array) -> Array:
        """Return the labels of the smallest graph's nodes, if each of them lies within one label."""
        for group, graph in zip(self.groups, self.graphs[1:], strict=True):
            labels = of_groups(labels, group, graph.n)
        return labels

    def communities(self) -> Array:
        """Return the node of the smallest graph that each node of the first one is part of."""
        labels = np.arange(self.smallest.n, dtype=np.int32)
        for group in reversed(self.groups):
            labels = labels[group]
        return labels


def of_groups(labels: Array, group: Array, n_groups: int) -> Array:
    """Return the labels of groups from those of their nodes."""
    inherited = np.empty(n_groups, dtype=np.int32)
    inherited[group] = labels
    return inherited


def found_on_all_scales(graph: LeafGraph, seed: int, resolution: float = 1.0) -> Array:
    """Return communities made of single nodes by joins on all scales, and moves on the way back.

    Nodes without edges go with the one of the largest volume.
    """
    levels = Levels.within(graph, None, seed, resolution)
    labels = np.arange(levels.smallest.n, dtype=np.int32)
    labels = _moved_downwards(levels, labels, levels.smallest.n, 0, resolution)
    labels[graph.volumes == 0] = np.bincount(labels, weights=graph.volumes).argmax()
    return numbered(labels)


def moved_on_all_scales(
    graph: LeafGraph, labels: Array, n_clusters: int, least: int, resolution: float, seed: int
) -> Array:
    """Return labels after moves of larger and larger, then smaller and smaller groups of nodes."""
    levels = Levels.within(graph, labels, seed, resolution)
    return _moved_downwards(levels, levels.down(labels), n_clusters, least, resolution)


def _moved_downwards(levels: Levels, labels: Array, n_clusters: int, least: int, resolution: float) -> Array:
    for finer, group in zip(reversed(levels.graphs), (None, *reversed(levels.groups)), strict=True):
        labels = labels if group is None else labels[group]
        labels = finer.moved(labels, n_clusters, least, False, resolution)
    return labels


def numbered(labels: Array) -> Array:
    """Return labels that leave no number out."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def modularity_of_nodes(graph: LeafGraph, resolution: float = 1.0) -> float:
    """Return the modularity of a graph's nodes, each of which stands for several."""
    volume = max(graph.volumes.sum(), np.finfo(float).tiny)
    return float(graph.loops.sum() / volume - resolution * np.sum((graph.volumes / volume) ** 2))


def by_chance(graph: LeafGraph) -> float:
    """Return the modularity that can be had by grouping the nodes of a random graph with the same degrees.

    0.97 Σ √dᵢ / Σ dᵢ (Reichardt and Bornholdt, Phys. Rev. E 76, 015102, 2007); with weights, √dᵢ becomes the
    spread of a node's ties to random halves, √Σⱼ wᵢⱼ².
    """
    begins = graph.indptr[:-1][np.diff(graph.indptr) > 0]
    squares = np.add.reduceat(np.square(graph.weights, dtype=np.float64), begins)
    return float(0.97 * np.sqrt(squares).sum() / graph.volumes.sum())
