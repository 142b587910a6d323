"""Communities and their likelihood in the degree-corrected planted partition."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy.special import xlogy

from symclust._types import Array
from symclust.hierarchy.communities.cuts import CutGrowth, child_seed
from symclust.hierarchy.communities.graph import LeafGraph
from symclust.hierarchy.communities.levels import Levels, found_on_all_scales, moved_on_all_scales

ROUNDS = 10  # of estimating the resolution and moving
# Shares of the nodes: if a round has moved more, groups of nodes move in the next one too, which takes
# several times as long as moves of nodes alone; if it has moved fewer, labels have settled.
MANY, FEW = 0.05, 0.005
ROUNDING = 1e-9  # of sums in another order
LARGE = 1 << 18  # edges, from both ends: about as long for all starts as for the tree
STARTS, MISSES = 10, 3  # from single nodes: the most of them, and how many in a row that are no more likely
# Of the search for a resolution with so many communities: attempts, and how many times as many will do.
TRIES, SURPLUS = 8, 1.3
BALANCE = 0.25  # as in HierarchicalSymNMF


class PlantedPartition(NamedTuple):
    r"""Fit of the degree-corrected planted partition to a graph and labels (Newman 2016).

    The weight between nodes i and j is expected to be :math:`a \, d_i d_j / 2m` inside clusters and
    :math:`b \, d_i d_j / 2m` between them, with a and b the most likely ones: weights as they are over
    those expected in a random graph of the same degrees.

    Sums of weights count each edge once; the expected ones are those of a random graph with the same degrees.

    M. E. J. Newman, "Equivalence between modularity optimization and maximum likelihood methods for community
    detection", Phys. Rev. E 94, 052315, 2016.
    """

    inside: float
    between: float
    expected_inside: float
    expected_between: float

    @classmethod
    def of(cls, graph: LeafGraph, labels: Array) -> Self:
        """Return the fit to a graph whose nodes have labels from 0 on."""
        volumes = np.bincount(labels, weights=graph.volumes)
        same = np.repeat(labels, np.diff(graph.indptr)) == labels[graph.indices]
        inside = (float(graph.weights[same].sum(dtype=np.float64)) + float(graph.loops.sum())) / 2
        total, volume = graph.association() / 2, float(volumes.sum())
        expected = float(volumes @ volumes) / volume * total / volume if volume > 0 else 0.0
        return cls(inside, total - inside, expected, total - expected)

    @property
    def log_likelihood(self) -> float:
        """w_in ln a + w_out ln b: the logarithm of the likelihood but for what all labels share."""
        return float(xlogy(self.inside, self.a) + xlogy(self.between, self.b))

    @property
    def resolution(self) -> float:
        """γ = (a − b) / (ln a − ln b), at which modularity and likelihood agree; 0 unless a > b > 0."""
        return (self.a - self.b) / float(np.log(self.a / self.b)) if self.a > self.b > 0 else 0.0

    @property
    def a(self) -> float:
        """Density inside clusters, 1 by chance."""
        return self.inside / self.expected_inside if self.expected_inside > 0 else 1.0

    @property
    def b(self) -> float:
        """Density between clusters, 1 by chance."""
        return self.between / self.expected_between if self.expected_between > 0 else 1.0


def planted_log_likelihood(graph: LeafGraph, labels: Array) -> float:
    """Log-likelihood of labels from 0 on in the planted partition, to compare labels of one graph."""
    return PlantedPartition.of(graph, labels).log_likelihood


def raise_likelihood(graph: LeafGraph, labels: Array, n_clusters: int, least: int, seed: int) -> Array:
    """Return labels after moves between clusters that raise the likelihood of the planted partition.

    The resolution follows from the labels; groups of nodes and then nodes move if that raises the
    modularity at this resolution, and so the likelihood; and again, until nothing moves. In a network that
    is not large, communities found from single nodes, in several random orders, replace the labels if they
    are more likely. If the communities that moves find freely, whatever their number, are more likely than
    all of this, clusters are unions of several communities, or parts of one: the planted partition is no
    model of them, and the labels stay as they are.

    Labels are int32, from 0 to n_clusters − 1. Moves leave at least `least` nodes in a cluster; `seed`
    decides the orders in which nodes are joined.
    """
    moved = _moved_in_rounds(graph, labels, n_clusters, least, seed)
    reached = planted_log_likelihood(graph, moved)
    free = planted_log_likelihood(graph, Levels.within(graph, None, seed).communities())
    if reached < free * (1 - ROUNDING):
        return labels
    if is_large(graph):
        return moved
    resolution, misses = PlantedPartition.of(graph, moved).resolution, 0
    for number in range(STARTS):
        start, resolution = _of_number(graph, n_clusters, least, child_seed(seed, number), resolution)
        found = None if start is None else _moved_in_rounds(graph, start, n_clusters, least, seed)
        value = -np.inf if found is None else planted_log_likelihood(graph, found)
        if found is not None and value > reached * (1 + ROUNDING):
            moved, reached, misses = found, value, 0
        elif (misses := misses + 1) == MISSES:
            break
    return moved


def is_large(graph: LeafGraph) -> bool:
    """Whether one way to labels has to do, since others would take long."""
    return len(graph.indices) > LARGE


def _of_number(
    graph: LeafGraph, n_clusters: int, least: int, seed: int, resolution: float
) -> tuple[Array | None, float]:
    """Return so many communities, made of a few more that moves find, and the resolution with these.

    The resolution is doubled or halved, then bisected, until there are enough communities and not many more.
    """
    low, high, enough = 0.0, np.inf, None
    for number in range(TRIES):
        found = found_on_all_scales(graph, child_seed(seed, number), resolution)
        count = int(found.max()) + 1
        if count < n_clusters:
            low = resolution
        else:
            high, enough = resolution, (found, resolution)
            if count <= SURPLUS * n_clusters + 1:
                break
        resolution = (low + high) / 2 if high < np.inf else 2 * resolution
    if enough is None:
        return None, resolution
    found, resolution = enough
    small = graph.contracted(found)
    tree = CutGrowth(small, BALANCE, least, False, 1, seed).grow(n_clusters)
    if tree.n_splits + 1 < n_clusters:
        return None, resolution
    return tree.cut(n_clusters).astype(np.int32)[found], resolution


def _moved_in_rounds(graph: LeafGraph, labels: Array, n_clusters: int, least: int, seed: int) -> Array:
    """Return labels after moves at the resolution that follows from them, again and again."""
    share = 1.0  # of the nodes, moved in the last round
    for number in range(ROUNDS):
        resolution = PlantedPartition.of(graph, labels).resolution
        if resolution <= 0:
            break
        before, on_all_scales = labels, share > MANY
        if on_all_scales:
            labels = moved_on_all_scales(
                graph, labels, n_clusters, least, resolution, child_seed(seed, number)
            )
        else:
            labels = graph.moved(labels, n_clusters, least, False, resolution)
        share = float(np.mean(labels != before))
        if share == 0 or (share <= FEW and not on_all_scales):
            break
    return labels
