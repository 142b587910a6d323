"""Trees of communities: leaves of a graph cut in two, the best normalised cut first."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from symclust._threads import available_threads, map_blocks
from symclust.hierarchy.communities.graph import Bisection, LeafGraph
from symclust.hierarchy.tree import Node, Tree
from symclust.operators import Operator
from symclust.storage import recorded_side_by_side, series
from symclust.validation import is_true

NO_GRAPH = LeafGraph(*(np.empty(0) for _ in range(6)))
After = Callable[[int, float], object]
Entry = tuple[float, int, "Leaf"]  # of the queue: minus the value of a leaf, its number in the tree


@dataclass
class Leaf:
    """A leaf and the best cut known of it; its children are made when it is its turn."""

    graph: LeafGraph
    seed: int
    cut: Bisection
    gain: float
    modularity_gain: float
    volume: float
    crossing: float  # weight of the edges that the cut goes through
    parts: tuple[tuple[LeafGraph, int], ...] = ()
    children: tuple[Leaf | None, ...] = ()

    def divide(self) -> None:
        """Make the graphs of the two parts, with a seed for each; this leaf's own is let go."""
        sides = (np.flatnonzero(~self.cut.right), np.flatnonzero(self.cut.right))
        graphs = map(self.graph.part, sides)
        self.parts = tuple((graph, child_seed(self.seed, side)) for side, graph in enumerate(graphs))
        self.graph = NO_GRAPH


class CutGrowth:
    r"""Growth of a tree of communities by cuts.

    The next leaf C is the one with the largest gain(C) · (vol(C) / vol(V))^balance, where for its parts L, R

    .. math:: gain(C) = \frac{assoc(L, L)}{vol(L)} + \frac{assoc(R, R)}{vol(R)} - \frac{assoc(C, C)}{vol(C)}

    With k leaves the sum of the normalised cuts is k − Σ assoc(C, C) / vol(C): a split raises it by
    1 − gain(C). If no edge is cut, only the gain counts. Volumes are sums of degrees in the whole graph; a
    leaf without edges has the ratio 0.

    The graph is an operator that holds a symmetric, nonnegative matrix, or a `LeafGraph` of joined nodes.
    `balance` weighs the sizes of a leaf and of the smaller part of a cut; 0 looks at the gain alone. No leaf
    has fewer than `smallest` nodes, `n_init` cuts are tried for each, and `while_modular` allows only splits
    that raise the modularity with resolution γ. A leaf's own seed follows from `seed` and from the way to the
    leaf, so that leaves can be cut in any order and side by side. A given `tree`, whose samples are the nodes
    of the graph, is grown further. `history` has the seconds and the average normalised cut with 1, 2, ...
    leaves; `is_stopped` is true once `after` has ended the growth.
    """

    def __init__(
        self,
        graph: Operator | LeafGraph,
        balance: float,
        smallest: int,
        while_modular: bool,
        n_init: int,
        seed: int,
        tree: Tree | None = None,
        resolution: float = 1.0,
    ) -> None:
        self.balance, self.smallest, self.while_modular = balance, smallest, while_modular
        self.n_init, self.seed, self.resolution = n_init, seed, resolution
        self.root = graph if isinstance(graph, LeafGraph) else LeafGraph.whole(graph)
        self.total = float(self.root.volumes.sum())
        self.tree = Tree(self.root.n) if tree is None else tree
        self.history: list[tuple[float, float]] = []
        self.is_stopped = False
        self._queue: list[Entry] = []  # leaves that can be split, the best one first

    def grow(
        self,
        n_leaves: int,
        is_over: Callable[[], bool] = lambda: False,
        after: After | None = None,
    ) -> Tree:
        """Return a tree with `n_leaves` leaves, or as many as there are cuts for before `is_over`.

        `after` is called after each split with their number so far and the average normalised cut; returning
        True stops. Ctrl-C ends it with the tree grown so far, see `Tree.interruptible`.
        """
        started = time.perf_counter()
        with series("growth"), self.tree.interruptible():
            held = self._open_all()  # sum of the leaves' normalised associations
            known = self.tree.n_splits + 1
            self.history = [(time.perf_counter() - started, 1 - held / known)] * known
            while self._queue and len(self.history) < n_leaves and not (self.is_stopped or is_over()):
                held += self._queue[0][2].gain
                k = len(self.history) + 1
                self.history.append((time.perf_counter() - started, 1 - held / k))
                self._split_first()
                if after is not None:
                    self.is_stopped = is_true(after(self.tree.n_splits, self.history[-1][1]))
        del self.history[self.tree.n_splits + 1 :]  # of a split that was interrupted
        return self.tree

    def _open_all(self) -> float:
        """Put all leaves into the queue, once; return the sum of their normalised associations."""
        nodes = self.tree.leaves()
        if len(nodes) == 1:
            parts = [(self.root, self.seed)]
            self.root = NO_GRAPH  # held by its leaf as long as it is needed
        else:
            parts = [(self.root.part(node.members), child_seed(self.seed, node.number)) for node in nodes]
        held = [ratio(graph.association(), float(graph.volumes.sum())) for graph, _ in parts]
        for node, inside in zip(nodes, held, strict=True):
            node.data["normalized_cut"] = 1 - inside
        for node, leaf in zip(nodes, self._leaves(parts), strict=True):
            self._open(node, leaf)
        return sum(held)

    def _split_first(self) -> None:
        """Split the first leaf of the queue, and put its children there."""
        _, number, leaf = self._queue[0]
        node, right = self.tree.nodes[number], leaf.cut.right
        parts = [node.members[~right], node.members[right]]
        cuts = (1 - ratio(*sums) for sums in zip(leaf.cut.association, leaf.cut.volume, strict=True))
        children = self.tree.split(number, parts, [{"normalized_cut": cut} for cut in cuts])
        node.data |= {"gain": leaf.gain, "modularity_gain": leaf.modularity_gain}
        self._prepare()  # only now, so that an interrupt, which comes here most likely, finds one more split
        heapq.heappop(self._queue)
        for child, known in zip(children, leaf.children, strict=True):
            self._open(child, known)

    def _leaves(self, parts: list[tuple[LeafGraph, int]]) -> list[Leaf | None]:
        """Cut graphs, each from several starts and all side by side; return each with its best cut."""
        tries = [(graph, child_seed(seed, 2 + i)) for graph, seed in parts for i in range(self.n_init)]

        def bisect(number: int) -> Bisection | None:
            graph, seed = tries[number]
            return graph.bisect(self.balance, self.smallest, seed)

        # By seeds, which say where in the tree: with other threads leaves are cut in another order.
        names = [f"cut {seed}" for _, seed in tries]
        cuts = recorded_side_by_side(
            names, partial(map_blocks, bisect), lambda number, cut: _can_be_cut(tries[number][0], cut)
        )
        own = (cuts[first : first + self.n_init] for first in range(0, len(cuts), self.n_init))
        return [self._leaf(*part, found) for part, found in zip(parts, own, strict=True)]

    def _leaf(self, graph: LeafGraph, seed: int, cuts: list[Bisection | None]) -> Leaf | None:
        """Return a leaf with its best cut, None if there is none worth having."""
        cut = max(filter(None, cuts), key=lambda cut: cut.value, default=None)
        if cut is None:
            return None
        association, volume = graph.association(), float(graph.volumes.sum())
        gain = sum(map(ratio, cut.association, cut.volume)) - ratio(association, volume)
        crossing = max(0.0, association - cut.association.sum()) / 2
        if crossing <= 1e-12 * association:
            crossing = 0.0  # a difference of sums in another order
        # Modularity: Σ assoc(C, C) / vol(V) − γ (vol(C) / vol(V))²
        modular = 2 * ratio(ratio(self.resolution * cut.volume.prod(), self.total) - crossing, self.total)
        if self.while_modular and modular <= 0:
            return None
        return Leaf(graph, seed, cut, float(gain), float(modular), volume, float(crossing))

    def _open(self, node: Node, leaf: Leaf | None) -> None:
        """Put a leaf into the queue if it can be split."""
        if leaf is None:
            node.is_final = True
            return
        node.score = leaf.gain
        if leaf.gain > 0 and leaf.crossing > 0:  # pieces that are apart come first, whatever their size
            node.score *= ratio(leaf.volume, self.total) ** self.balance
        heapq.heappush(self._queue, (-node.score, node.number, leaf))

    def _prepare(self) -> None:
        """Find the children of the first leaf, and on further threads those of the leaves likely to be next.

        What is found does not depend on when, so neither does the tree.
        """
        queue = self._queue
        if queue[0][2].children:
            return
        first = [heapq.heappop(queue) for _ in range(min(available_threads(), len(queue)))]
        leaves = [leaf for _, _, leaf in first if not leaf.children]
        for leaf in leaves:
            leaf.divide()
        found = self._leaves([part for leaf in leaves for part in leaf.parts])
        for place, leaf in enumerate(leaves):
            leaf.children, leaf.parts = (found[2 * place], found[2 * place + 1]), ()
        for entry in first:
            heapq.heappush(queue, entry)


def _can_be_cut(graph: LeafGraph, cut: Any) -> bool:
    """Whether an answer from a file cuts a graph in two."""
    return cut is None or (
        isinstance(cut, Bisection)
        and (cut.right.shape, cut.right.dtype) == ((graph.n,), np.dtype(bool))
        and cut.association.shape == cut.volume.shape == (2,)
        and isinstance(cut.value, float)
    )


def child_seed(seed: int, number: int) -> int:
    """Return one of several seeds that follow from another one."""
    return (6364136223846793005 * (seed + number) + 1442695040888963407) % (1 << 64)


def ratio(part: float, whole: float) -> float:
    """Return part / whole, and 0 if there is nothing."""
    return float(part / whole) if whole > 0 else 0.0
