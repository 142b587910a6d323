"""Trees of communities on several scales: grown on a small graph of joined nodes, improved by local moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from symclust._types import Array
from symclust.hierarchy.communities.cuts import After, CutGrowth, child_seed, ratio
from symclust.hierarchy.communities.graph import LeafGraph
from symclust.hierarchy.tree import Node, Tree
from symclust.operators import Operator
from symclust.storage import recorded

# Nodes of the graph that is cut: enough for each leaf, and enough in all. Smaller ones take no less time.
LEAF_NODES, ENOUGH = 15, 1000
# Share of the weights that has to be inside the groups of nodes: where it is less, a node belongs to its
# group by chance, and so would the tree (docs/evidence/trees.md).
HELD = 0.5
# A graph that is cut with so many times the nodes wanted takes too long: nodes are joined further, if their
# groups have so many times the modularity that a graph without communities would have.
LARGE, BEYOND_CHANCE = 8, 1.5

Scale = tuple[LeafGraph, Array]  # a graph, and for each node its number in the next smaller graph


class CommunityGrowth:
    r"""Grows a tree of communities on a small graph, and moves nodes between its leaves on each larger one.

    Nodes are joined once for the whole tree, by local moves that raise the modularity; `CutGrowth` cuts the
    smallest graph. Then, from that graph back to the nodes themselves, whatever raises the score by going to
    another leaf does. Where only very few joined nodes are fast enough to cut, leaves are then split and the
    tree is grown anew over the parts. Inner nodes are the unions of their leaves, so that all is as nested as
    before.

    Parameters
    ----------
    operator : Operator
        A, symmetric and nonnegative, held as a matrix.
    balance, smallest, while_modular, n_init, seed
        As in `CutGrowth`.
    both : bool
        Whether moves have to raise the average normalised association as well as the modularity. Otherwise
        the modularity decides alone, in one more cycle on the graph itself. If `smallest` is 1, leaves then
        may vanish, and others are split instead.

    Attributes
    ----------
    tree : Tree
        Grown so far.
    history : list of (float, float)
        Seconds and average normalised cut with 1, 2, ... leaves.
    is_stopped : bool
        Whether `after` has ended the growth.

    Examples
    --------
    >>> import networkx as nx
    >>> from symclust.hierarchy import CommunityGrowth
    >>> from symclust.operators import as_operator
    >>> A = as_operator(nx.ring_of_cliques(4, 5))
    >>> growth = CommunityGrowth(A, 0.5, smallest=1, while_modular=True, n_init=1, seed=0, both=True)
    >>> tree = growth.grow(20)
    >>> sorted(leaf.members.tolist() for leaf in tree.leaves())
    [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14], [15, 16, 17, 18, 19]]
    """

    def __init__(
        self,
        operator: Operator,
        balance: float,
        smallest: int,
        while_modular: bool,
        n_init: int,
        seed: int,
        both: bool,
    ) -> None:
        self.whole = LeafGraph.whole(operator)
        self.balance, self.smallest, self.while_modular = balance, smallest, while_modular
        self.n_init, self.seed, self.both = n_init, seed, both
        self.tree = Tree(self.whole.n)
        self.history: list[tuple[float, float]] = []
        self.is_stopped = False
        self._after: After | None = None

    def grow(self, n_leaves: int, after: After | None = None) -> Tree:
        """Return a tree with `n_leaves` leaves, or as many as there are cuts for.

        `after` is called as in `CutGrowth`, of every graph that is cut; if it returns True none is cut any
        more, and nodes only move. Ctrl-C ends it with the tree grown so far, see `Tree.interruptible`.
        """
        started, self._after = time.perf_counter(), after
        enough = ENOUGH if self.while_modular else max(LEAF_NODES * n_leaves, ENOUGH)
        scales, top, too_small = _scales(self.whole, enough, self.seed)
        self._cut(top, Tree(top.n), top.n if too_small else n_leaves, self.balance)
        labels = self._cycle(top, self._labels())
        for graph, group in reversed(scales):
            labels = self._moved(graph, labels[group])
        if too_small:
            labels = self._regrown(labels, n_leaves)
        if too_small or not self.both:
            labels = self._cycle(self.whole, labels, n_leaves)
        self.tree = self._surely(lambda: self.tree.with_leaves(labels).pruned(n_leaves))
        too_few = self.tree.n_splits + 1 < n_leaves and not self.while_modular
        if too_few and (scales or not self.both):  # joined nodes were too large for so many leaves
            self._cut(self.whole, self.tree, n_leaves, self.balance)
        cuts = self._surely(lambda: describe(self.tree, self.whole))
        seconds = [row[0] for row in self.history[: len(cuts) - 1]]
        seconds += [time.perf_counter() - started] * (len(cuts) - len(seconds))
        self.history = list(zip(seconds, cuts, strict=True))
        return self.tree

    def _cut(
        self, graph: LeafGraph, tree: Tree, n_leaves: int, balance: float, while_modular: bool | None = None
    ) -> None:
        """Split leaves of a tree until there are as many as wanted, unless it has been interrupted."""
        self.tree = tree
        if tree.interrupted or self.is_stopped:
            return
        while_modular = self.while_modular if while_modular is None else while_modular
        how = (balance, self.smallest, while_modular, self.n_init, self.seed)
        growth = CutGrowth(graph, *how, tree=tree)
        growth.grow(n_leaves, after=self._after)
        self.is_stopped = growth.is_stopped
        self.history += growth.history[len(self.history) :]

    def _regrown(self, labels: Array, n_leaves: int) -> Array:
        """Split leaves where that raises the modularity; then grow the tree anew, on the graph of the parts.

        Communities that fell together when nodes were joined come apart, and pieces of one that got into two
        leaves together; moves of single nodes do neither. Most leaves are cut once, which takes far less
        than a tree of the whole graph. If it is interrupted or stopped, all is as it was.
        """
        if self.tree.interrupted or self.is_stopped:
            return labels
        before, history = self.tree, list(self.history)
        with before.interruptible():
            self._cut(self.whole, before.with_leaves(labels), self.whole.n, self.balance, while_modular=True)
            if self.tree.n_splits + 1 < n_leaves and not self.while_modular:
                self._cut(self.whole, self.tree, n_leaves, self.balance)
            parts = self._labels()
            graph = self.whole.contracted(parts)
            if not self.tree.interrupted:
                self._cut(graph, Tree(graph.n), n_leaves, self.balance)
            before.interrupted = self.tree.interrupted
        self.history = history
        if not (before.interrupted or self.is_stopped):
            return self._labels()[parts]
        self.tree = before
        return labels

    def _surely(self, work: Callable[[], Any]) -> Any:
        """Return the answer of something short, asked for again after an interrupt, which marks the tree."""
        with self.tree.interruptible():
            return work()
        return work()

    def _labels(self) -> Array:
        return self.tree.cut(self.tree.n_splits + 1).astype(np.int32)

    @property
    def _least(self) -> int:
        """Nodes that moves leave in a leaf; none where leaves may vanish."""
        return 0 if not self.both and self.smallest == 1 else self.smallest

    def _moved(self, graph: LeafGraph, labels: Array, least: int | None = None) -> Array:
        """Return labels after moves between the leaves, or as they are where there was an interrupt."""
        if self.tree.interrupted:
            return labels
        least = self._least if least is None else least
        with self.tree.interruptible():
            n_leaves = self.tree.n_splits + 1
            move = partial(graph.moved, labels, n_leaves, least, self.both)
            return recorded("moves", move, fits=lambda found: _can_be_labels(found, labels, n_leaves))
        return labels

    def _cycle(self, graph: LeafGraph, labels: Array, n_leaves: int = 0) -> Array:
        """Join nodes within leaves as far as possible; move groups of them between leaves, then smaller ones.

        A group that is better off elsewhere goes there as a whole, where each of its nodes alone would not.
        Where leaves have vanished, others are split on the way back, until there are `n_leaves` again: by
        the gain alone, since small pieces that hang on by an edge or two cost the modularity least.
        """
        if self.tree.interrupted:
            return labels
        with self.tree.interruptible():
            scales, top, groups = _scales_within(graph, labels, self.seed)
            scales.append((top, np.empty(0, dtype=np.int32)))
        if self.tree.interrupted:  # also between the two lines above: scales without the top are of no use
            return labels
        least, wanted = self._least, 0 if self.while_modular or self._least else n_leaves
        for place, (finer, group) in enumerate(reversed(scales)):
            groups = self._moved(finer, groups[group] if place else groups, least)
            if wanted and (finer.n >= LEAF_NODES * wanted or place == len(scales) - 1):
                self._cut(finer, self.tree.with_leaves(groups), wanted, balance=0.0)
                groups, least, wanted = self._labels(), self.smallest, 0
        return groups


def _can_be_labels(found: Any, before: Array, n_clusters: int) -> bool:
    """Whether an answer from a file gives each node a cluster."""
    is_array = (found.shape, found.dtype) == (before.shape, before.dtype)
    return is_array and bool(((found >= 0) & (found < n_clusters)).all())


def _scales(graph: LeafGraph, enough: int, seed: int) -> tuple[list[Scale], LeafGraph, bool]:
    """Join nodes again and again; return the graphs before the last one, the last one and if it is too small.

    It ends before there are fewer than `enough` nodes, or where most of the weights would be between groups.
    Where that leaves a `LARGE` graph, nodes are joined to fewer, unless the groups could be there by chance.
    """
    whole, scales = graph, list[Scale]()
    fine = None  # how many scales came before the first that is too small, if one is
    while graph.n > enough:
        smaller, group = graph.joined(child_seed(seed, len(scales)))
        if smaller.n == graph.n:
            break
        is_fine = smaller.n >= enough and smaller.loops.sum() >= HELD * whole.volumes.sum()
        if fine is None and not is_fine:
            if graph.n <= LARGE * enough:
                break
            fine = len(scales)
        scales.append((graph, group))
        graph = smaller
    if fine is not None and _modularity(graph) < BEYOND_CHANCE * _by_chance(whole):
        return scales[:fine], scales[fine][0], False
    return scales, graph, fine is not None


def _modularity(graph: LeafGraph) -> float:
    """Return the modularity of a graph's nodes, each of which stands for several."""
    volume = graph.volumes.sum()
    return float(graph.loops.sum() / volume - np.sum((graph.volumes / volume) ** 2))


def _by_chance(graph: LeafGraph) -> float:
    """Return the modularity that can be had by grouping the nodes of a random graph with the same degrees.

    0.97 Σ √dᵢ / Σ dᵢ (Reichardt and Bornholdt, Phys. Rev. E 76, 015102, 2007); with weights, √dᵢ becomes the
    spread of a node's ties to random halves, √Σⱼ wᵢⱼ².
    """
    begins = graph.indptr[:-1][np.diff(graph.indptr) > 0]
    squares = np.add.reduceat(np.square(graph.weights, dtype=np.float64), begins)
    return float(0.97 * np.sqrt(squares).sum() / graph.volumes.sum())


def _scales_within(graph: LeafGraph, labels: Array, seed: int) -> tuple[list[Scale], LeafGraph, Array]:
    """Join nodes of a label until none is left to join; return the graphs, the last one and its labels."""
    scales: list[Scale] = []
    while True:
        smaller, group = graph.joined(child_seed(seed, len(scales)), labels)
        if smaller.n == graph.n:
            return scales, graph, labels
        scales.append((graph, group))
        inherited = np.empty(smaller.n, dtype=np.int32)
        inherited[group] = labels
        graph, labels = smaller, inherited


def describe(tree: Tree, graph: LeafGraph) -> list[float]:
    """Write into a tree's nodes what `CutGrowth` does; return average normalised cuts of 1, 2, ... leaves.

    Parameters
    ----------
    tree : Tree
        Its samples are the nodes of the graph.
    graph : LeafGraph
        The whole graph.

    Examples
    --------
    >>> import networkx as nx
    >>> from symclust.hierarchy import LeafGraph, Tree
    >>> from symclust.hierarchy.communities.scales import describe
    >>> from symclust.operators import as_operator
    >>> tree = Tree(6)
    >>> _ = tree.split(0, [[0, 1, 2], [3, 4, 5]])
    >>> graph = LeafGraph.whole(as_operator(nx.barbell_graph(3, 0)))
    >>> [round(cut, 3) for cut in describe(tree, graph)], round(tree.nodes[0].data["gain"], 3)
    ([0.0, 0.143], 0.714)
    """
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
            apart = ratio(volume[left] * volume[right], total) - crossing[node.number]
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
