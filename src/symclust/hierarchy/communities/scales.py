"""Trees of communities on several scales: grown on a small graph of joined nodes, improved by local moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from symclust._threads import keeps_results
from symclust._types import Array
from symclust.hierarchy.communities.cuts import After, CutGrowth, ratio
from symclust.hierarchy.communities.graph import LeafGraph
from symclust.hierarchy.communities.levels import (
    ENOUGH,
    LEAF_NODES,
    Levels,
    found_on_all_scales,
    modularity_of_nodes,
    moved_on_all_scales,
    numbered,
)
from symclust.hierarchy.communities.likelihood import is_large, raise_likelihood
from symclust.hierarchy.tree import Node, Tree
from symclust.operators import Operator
from symclust.storage import recorded, stop_recording

# Communities made of single nodes replace the leaves that cuts have found if their modularity is so many
# times as high. At the same one leaves agree better with known groups: they are fewer and not as small.
HIGHER = 1.005


@dataclass(frozen=True)
class Leaves:
    """A tree whose leaves are clusters of a graph that may have been made of the whole one.

    All that a growth finds is one of these, and complete, so that the growth can end with any of them.
    `labels` has the leaf of each node of the present graph; `groups` lead there from the nodes of the whole
    graph, as in `Levels`. The samples of the tree itself are nodes of the graph that was cut.
    """

    tree: Tree
    labels: Array
    groups: tuple[Array, ...] = ()

    @classmethod
    def of(cls, tree: Tree, groups: tuple[Array, ...] = ()) -> Leaves:
        """Return the leaves of a tree whose samples are the nodes of the present graph."""
        return cls(tree, tree.cut(tree.n_splits + 1).astype(np.int32), groups)

    @property
    def n(self) -> int:
        """Number of leaves, including those that moves have emptied."""
        return self.tree.n_splits + 1

    def coarser(self, levels: Levels) -> Leaves:
        """Return the same in the smallest of several graphs, whose nodes lie within leaves."""
        return Leaves(self.tree, levels.down(self.labels), self.groups + levels.groups)

    def finer(self) -> Leaves:
        """Return the same in the next larger graph."""
        return Leaves(self.tree, self.labels[self.groups[-1]], self.groups[:-1])

    def as_tree(self) -> Tree:
        """Return the tree with the nodes of the whole graph as samples; empty leaves are left out."""
        labels = self.labels
        for group in reversed(self.groups):
            labels = labels[group]
        return self.tree.with_leaves(labels)


@dataclass(frozen=True)
class RaiseBoth:
    """Nodes move where that raises the modularity and the average normalised association."""

    smallest: int
    both = True

    @property
    def least(self) -> int:
        """Nodes that moves leave in a leaf."""
        return self.smallest


class RaiseModularity(RaiseBoth):
    """Nodes move where that raises the modularity; with ``smallest=1`` leaves may vanish."""

    both = False

    @property
    def least(self) -> int:
        """The same; none if leaves may vanish."""
        return 0 if self.smallest == 1 else self.smallest


class RaiseLikelihood(RaiseBoth):
    """As `RaiseBoth`, and in the end as `raise_likelihood` does."""


class CommunityGrowth:
    r"""Growth of a tree of communities on a small graph; nodes move between its leaves on each larger one.

    Inner nodes of the tree are the unions of their leaves, whatever moves, so that all stays nested.

    The operator holds a symmetric, nonnegative matrix. `balance`, `n_init`, `seed`, `history` and
    `is_stopped` are those of `CutGrowth`; `moves` decides when nodes move, and how small a leaf may be.
    Larger values of the resolution γ make smaller communities. The tree has one leaf until the growth has
    ended.
    """

    def __init__(
        self,
        operator: Operator,
        balance: float,
        n_init: int,
        seed: int,
        moves: RaiseBoth,
        resolution: float = 1.0,
    ) -> None:
        self.whole, self.resolution = LeafGraph.whole(operator), resolution
        self.balance, self.n_init, self.seed, self.moves = balance, n_init, seed, moves
        self.tree = Tree(self.whole.n)
        self.history: list[tuple[float, float]] = []
        self.is_stopped = False
        self._found: Leaves | None = None
        self._seconds: list[float] = []  # until there were 1, 2, ... leaves
        self._is_over: Callable[[], bool] = lambda: False
        self._after: After | None = None

    def grow(
        self,
        n_leaves: int | None = None,
        is_over: Callable[[], bool] = lambda: False,
        after: After | None = None,
    ) -> Tree:
        """Return a tree with `n_leaves` leaves, or as many as there are cuts for that raise the modularity.

        It ends with the leaves found so far at Ctrl-C and when `is_over`. `after` is called as in `CutGrowth`
        for every graph that is cut; if it returns True none is cut any more, and nodes only move.
        """
        self._clock, self._is_over, self._after = time.perf_counter(), is_over, after
        with self._keeping_what_was_found():
            levels = Levels.joined(self.whole, _enough(n_leaves), self.seed, self.resolution)
            self._cut_smallest(levels, n_leaves)
            self._move_groups(levels.smallest)
            self._move_nodes(levels)
            if levels.is_coarse:
                self._grow_anew(n_leaves)
            if levels.is_coarse or not self.moves.both:
                self._move_groups(self.whole, refill=n_leaves)
            if n_leaves is not None and (levels.groups or not self.moves.both):
                self._split_further(n_leaves)
            if n_leaves is None and not levels.groups:
                self._find_from_below()
            if isinstance(self.moves, RaiseLikelihood):
                self._raise_likelihood()
        return self._finish(n_leaves)

    @contextmanager
    def _keeping_what_was_found(self) -> Iterator[None]:
        """End the steps inside at Ctrl-C and when the time is up; before the first split Ctrl-C is raised.

        A step changes `_found` by one assignment when it is done, so an end may come at any moment.
        """
        try:
            yield
        except _Ended:
            pass
        except KeyboardInterrupt:
            stop_recording()
            if self._found is None or self._found.tree.n_splits == 0 or not keeps_results():
                raise
            self._found.tree.interrupted = True

    # Steps, in their order ------------------------------------------------------------------------------

    def _cut_smallest(self, levels: Levels, n_leaves: int | None) -> None:
        """Cut the smallest graph; a coarse one into as many leaves as there are cuts for."""
        graph = levels.smallest
        wanted = graph.n if levels.is_coarse and n_leaves is not None else n_leaves
        tree = self._cut(graph, Tree(graph.n), wanted)
        self._found = Leaves.of(tree, levels.groups)
        _end_if_interrupted(tree)

    def _move_groups(self, graph: LeafGraph, refill: int | None = None) -> None:
        """Join nodes within leaves as far as possible; move groups of them between leaves, then smaller ones.

        A group that is better off elsewhere goes there as a whole, while each of its nodes alone would not.
        If leaves may vanish, others are split on the way back, until there are `refill` again: by the gain
        alone, since small pieces that hang on by an edge or two cost the modularity least.
        """
        levels = Levels.within(graph, self._leaves.labels, self.seed, self.resolution)
        found, least = self._leaves.coarser(levels), self.moves.least
        refill = None if least else refill
        for finer in reversed(levels.graphs):
            found = found if finer is levels.smallest else found.finer()
            found = self._found = self._moved(finer, found, least)
            if refill and (finer.n >= LEAF_NODES * refill or finer is graph):
                tree = self._cut(finer, found.tree.with_leaves(found.labels), refill, balance=0.0)
                found = self._found = Leaves.of(tree, found.groups)
                _end_if_interrupted(tree)
                least, refill = self.moves.smallest, None

    def _move_nodes(self, levels: Levels) -> None:
        """Move the nodes of larger and larger graphs between leaves."""
        for graph in reversed(levels.graphs[:-1]):
            self._found = self._moved(graph, self._leaves.finer(), self.moves.least)

    def _grow_anew(self, n_leaves: int | None) -> None:
        """Split leaves as long as that raises the modularity; grow the tree anew on the graph of the parts.

        Communities that fell together when nodes were joined come apart, and pieces of one that got into two
        leaves together; moves of single nodes do neither. Most leaves are cut once, which takes far less
        than a tree of the whole graph.
        """
        if self.is_stopped:
            return
        tree = self._cut(self.whole, self._leaves.as_tree(), None)
        if n_leaves is not None and tree.n_splits + 1 < n_leaves:
            tree = self._cut(self.whole, tree, n_leaves)
        _end_if_interrupted(tree)
        parts = Leaves.of(tree).labels
        graph = self.whole.contracted(parts)
        tree = self._cut(graph, Tree(graph.n), n_leaves)
        _end_if_interrupted(tree)
        if not (self.is_stopped or self._is_over()):
            self._found = Leaves.of(tree, (parts,)).finer()

    def _split_further(self, n_leaves: int) -> None:
        """Cut the whole graph if joined nodes were too large for so many leaves, or leaves have vanished."""
        tree = self._leaves.as_tree().pruned(n_leaves)
        if tree.n_splits + 1 < n_leaves:
            self._found = Leaves.of(self._cut(self.whole, tree, n_leaves))

    def _raise_likelihood(self) -> None:
        """Move nodes of the whole graph between leaves by the likelihood of the planted partition."""
        if self._is_over():
            raise _Ended
        found, least = self._leaves, self.moves.least
        move = partial(raise_likelihood, self.whole, found.labels, found.n, least, self.seed)
        labels = recorded(
            "likelihood", move, fits=lambda answer: _can_be_labels(answer, found.labels, found.n)
        )
        self._found = Leaves(found.tree, labels, found.groups)
        if not is_large(self.whole) and not np.array_equal(labels, found.labels):
            self._grow_over(labels)  # which need not be near the leaves of the tree

    def _find_from_below(self) -> None:
        """Make communities of single nodes, and take them for leaves if their modularity is clearly higher.

        If communities are weak, the first cuts of a graph that was not joined go through many of them.
        """
        if self._is_over():
            raise _Ended
        graph, resolution, found = self.whole, self.resolution, numbered(self._leaves.labels)
        labels = found_on_all_scales(graph, self.seed, resolution)
        count = int(labels.max()) + 1
        labels = numbered(moved_on_all_scales(graph, labels, count, 0, resolution, self.seed))
        reached, before = (modularity_of_nodes(graph.contracted(one), resolution) for one in (labels, found))
        if reached > max(0.0, HIGHER * before):
            self._grow_over(labels)

    def _grow_over(self, labels: Array) -> None:
        """Grow the tree anew, with these labels for leaves as far as their sizes allow."""
        if self.is_stopped:
            return
        parts = numbered(labels)
        graph = self.whole.contracted(parts)
        tree = self._cut(graph, Tree(graph.n), graph.n)
        _end_if_interrupted(tree)
        if not (self.is_stopped or self._is_over()):
            self._found = Leaves.of(tree, (parts,)).finer()

    def _finish(self, n_leaves: int | None) -> Tree:
        """Make the answer of the leaves that were found; after an interrupt it is made once more."""
        try:
            tree, cuts = self._answer(n_leaves)
        except KeyboardInterrupt:
            stop_recording()
            if self._leaves.tree.n_splits == 0 or not keeps_results():
                raise
            tree, cuts = self._answer(n_leaves)
            tree.interrupted = True
        seconds = self._seconds[: len(cuts) - 1]
        seconds += [time.perf_counter() - self._clock] * (len(cuts) - len(seconds))
        self.tree, self.history = tree, list(zip(seconds, cuts, strict=True))
        return tree

    # Their parts ---------------------------------------------------------------------------------------

    @property
    def _leaves(self) -> Leaves:
        assert self._found is not None  # the first step has found some
        return self._found

    def _answer(self, n_leaves: int | None) -> tuple[Tree, list[float]]:
        tree = self._leaves.as_tree()
        tree = tree if n_leaves is None else tree.pruned(n_leaves)
        return tree, describe(tree, self.whole, self.resolution)

    def _cut(self, graph: LeafGraph, tree: Tree, n_leaves: int | None, balance: float | None = None) -> Tree:
        """Split leaves of a tree until there are as many as wanted; return it, also if it was interrupted."""
        if tree.interrupted or self.is_stopped:
            return tree
        balance, begun = self.balance if balance is None else balance, time.perf_counter() - self._clock
        how = (balance, self.moves.smallest, n_leaves is None, self.n_init, self.seed)
        growth = CutGrowth(graph, *how, tree=tree, resolution=self.resolution)
        growth.grow(graph.n if n_leaves is None else n_leaves, self._is_over, self._after)
        self.is_stopped = growth.is_stopped
        self._seconds += [begun + row[0] for row in growth.history[len(self._seconds) :]]
        return tree

    def _moved(self, graph: LeafGraph, found: Leaves, least: int) -> Leaves:
        """Return the leaves after local moves of the nodes between them."""
        if self._is_over():
            raise _Ended
        move = partial(graph.moved, found.labels, found.n, least, self.moves.both, self.resolution)
        labels = recorded("moves", move, fits=lambda answer: _can_be_labels(answer, found.labels, found.n))
        return Leaves(found.tree, labels, found.groups)


class _Ended(Exception):
    """The growth ends with the leaves it has found."""


def _end_if_interrupted(tree: Tree) -> None:
    if tree.interrupted:
        raise KeyboardInterrupt


def _enough(n_leaves: int | None) -> int:
    """Return how many nodes a graph should have that is cut."""
    return ENOUGH if n_leaves is None else max(LEAF_NODES * n_leaves, ENOUGH)


def _can_be_labels(found: Any, before: Array, n_clusters: int) -> bool:
    """Whether an answer from a file gives each node a cluster."""
    is_array = (found.shape, found.dtype) == (before.shape, before.dtype)
    return is_array and bool(((found >= 0) & (found < n_clusters)).all())


def describe(tree: Tree, graph: LeafGraph, resolution: float = 1.0) -> list[float]:
    """Write the cuts and gains into a tree of a whole graph; return average cuts of 1, 2, ... leaves."""
    leaves = tree.leaves()
    quotient = graph.contracted(tree.cut(len(leaves)).astype(np.int32))
    crossing = _crossing(tree, leaves, quotient)
    inside, volume = np.zeros(len(tree.nodes)), np.zeros(len(tree.nodes))
    numbers = [leaf.number for leaf in leaves]
    inside[numbers], volume[numbers] = quotient.loops, quotient.volumes
    total = float(quotient.volumes.sum())
    for node in reversed(tree.nodes):
        for child in node.children:
            inside[node.number] += inside[child] + crossing[node.number]  # twice in all, from both ends
            volume[node.number] += volume[child]
    held = [ratio(*sums) for sums in zip(inside, volume, strict=True)]
    for node in tree.nodes:
        node.data["normalized_cut"] = 1 - held[node.number]
        if node.children:
            left, right = node.children
            node.data["gain"] = held[left] + held[right] - held[node.number]
            apart = ratio(resolution * volume[left] * volume[right], total) - crossing[node.number]
            node.data["modularity_gain"] = 2 * ratio(apart, total)
    gains = [node.data["gain"] for node in _by_split(tree)]
    sums = np.cumsum([held[0], *gains])
    return [float(1 - held_by / k) for k, held_by in enumerate(sums, start=1)]


def _crossing(tree: Tree, leaves: list[Node], quotient: LeafGraph) -> Array:
    """Return the weight of the edges that the split of each node goes through.

    An edge is cut where the ways of its ends part. Children have larger numbers than their parents: of two
    different nodes the one with the larger number is not above the other, and gives way to its parent.
    """
    number = np.array([leaf.number for leaf in leaves])
    parent = np.array([node.parent or 0 for node in tree.nodes])
    rows = np.repeat(np.arange(quotient.n), np.diff(quotient.indptr))
    once = rows < quotient.indices
    one, other = number[rows[once]], number[quotient.indices[once]]
    while (apart := one != other).any():
        one, other = np.where(apart, parent[np.maximum(one, other)], one), np.minimum(one, other)
    return np.bincount(one, weights=quotient.weights[once], minlength=len(parent))


def _by_split(tree: Tree) -> Iterator[Node]:
    inner = [node for node in tree.nodes if node.split is not None]
    yield from sorted(inner, key=lambda node: node.split or 0)
