"""The leaves of a tree of communities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.hierarchy import CommunityGrowth, CutGrowth, LeafGraph, RaiseBoth
from symclust.operators import Operator, Sparse
from symclust.solvers import Control
from symclust.starts._base import Init, Setting, Start
from symclust.starts._clusters import start_of_labels
from symclust.starts.random import Random

__all__ = ["Tree"]

BALANCE, CUTS = 0.25, 2  # as in HierarchicalSymNMF
LARGE = 1 << 22  # nonzeros: 50 MB, of which moves on all scales hold several times as much
# Samples of a large graph are joined to at most this many nodes for each leaf, or this many in each node.
LEAF_NODES, JOINED = 300, 4


class Clustering(NamedTuple):
    """Labels from 0 on, every number taken; `interrupted` says that Ctrl-C ended the search for them."""

    labels: Array
    interrupted: bool = False


class Tree(Init):
    """The leaves of a tree such as `HierarchicalSymNMF` grows, each a constant column and a small floor.

    It costs little more with many clusters than with few. A has to be a graph: no similarity is negative.
    """

    any_set: ClassVar[bool] = False

    def find(self, setting: Setting) -> list[Start]:
        """The points, a tree for each."""
        problem, k, points = setting.problem, setting.n_columns, []
        has_scale = not setting.holds_sparse and not setting.has_surrogate
        reference = _random_reference(setting) if has_scale else None
        for _ in range(setting.n_init):
            labels, interrupted = next_leaves(setting, k)
            H = start_of_labels(problem.operator, labels, k, setting.holds_sparse)
            points.append(Start(H, reference, interrupted=interrupted, is_clustering=True))
            if interrupted:
                break
        return points


def _random_reference(setting: Setting) -> float:
    """How far a random start is from stationary, the reference of "merge" too."""
    problem = setting.problem
    with single_threaded_blas():
        H = Random().factor(problem.objective, setting.n_columns, setting.rng)
        H = problem.operator.to_device(H)
        return problem.measure(H, problem.operator @ H)[1]


def next_leaves(setting: Setting, n_leaves: int) -> Clustering:
    """The leaves of a tree with the next seed."""
    graph = setting.problem.operator if setting.graph is None else setting.graph()
    return tree_of_communities(graph, setting.control, n_leaves, int(setting.rng.randint(2**31)))


def tree_of_communities(graph: Operator, control: Control, n_leaves: int, seed: int) -> Clustering:
    """The leaves of the tree that `HierarchicalSymNMF` grows, all `n_leaves` of them.

    If no cut is left that leaves both parts a tenth of the average size, smaller parts will do; if none is
    left at all, or no time, the largest leaves are halved as their samples come.
    """
    for growth, place in _growths(graph, n_leaves, seed):
        tree = growth.grow(n_leaves, control.is_over)
        labels = tree.cut(tree.n_splits + 1)[place]
        if tree.n_splits + 1 == n_leaves or tree.interrupted or control.is_over():
            break
    return Clustering(_halve_largest(labels, tree.n_splits + 1, n_leaves), tree.interrupted)


def _growths(A: Operator, n_leaves: int, seed: int) -> Iterator[tuple[CommunityGrowth | CutGrowth, Array]]:
    """Yield trees to grow in turn, and the node of each sample in their graphs.

    A large graph is cut after samples have been joined, and no larger graph is kept for moves: the descent
    that follows moves those whose partners belong elsewhere. Only the trees hold graphs, and let go of them.
    """
    own, smallest = np.arange(A.n), dict.fromkeys((max(1, A.n // (10 * n_leaves)), 1))
    if (A.values.size if isinstance(A, Sparse) else A.n**2) <= LARGE:
        for least in smallest:
            yield CommunityGrowth(A, BALANCE, CUTS, seed, RaiseBoth(least)), own
        return
    graph, place = LeafGraph.whole(A).coarser(max(A.n // JOINED, LEAF_NODES * n_leaves), seed)
    growth, is_joined = CutGrowth(graph, BALANCE, next(iter(smallest)), False, 1, seed), graph.n < A.n
    del graph
    yield growth, place
    for least in smallest if is_joined else (1,):
        yield CutGrowth(A, BALANCE, least, False, 1, seed), own


def _halve_largest(labels: Array, n_clusters: int, wanted: int) -> Array:
    """The labels once the largest cluster has been split in two as often as it takes."""
    sizes = np.bincount(labels, minlength=wanted)
    for new in range(n_clusters, wanted):
        largest = int(sizes.argmax())
        moved = np.flatnonzero(labels == largest)[sizes[largest] - sizes[largest] // 2 :]
        labels[moved] = new
        sizes[largest] -= len(moved)
        sizes[new] = len(moved)
    return labels
