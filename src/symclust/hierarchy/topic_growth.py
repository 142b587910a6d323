"""Trees of topics: which leaf is split next, into what, and who is left out (thesis, Algorithm 6)."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from symclust._kernels import falling_order
from symclust._threads import map_blocks
from symclust._types import Array
from symclust.hierarchy.growth import grow
from symclust.hierarchy.samples import Samples
from symclust.hierarchy.scores import CANNOT_BE_SPLIT
from symclust.hierarchy.splits._base import Halves
from symclust.hierarchy.tree import Node, Tree
from symclust.hierarchy.trials import Clock, Trial, Trials

LEAST_SHARE = 0.1  # in a soft tree, below which a sample does not belong to a part
SEEDS = 2**31 - 100  # leaves room for the seeds of a node's further trials


class TopicGrowth:
    """A tree of topics as it grows.

    A node's split is tried when the node appears, since its score needs it, and kept for when it is split.
    The matrix of a node is freed once its children have theirs, so that all together hold X about twice.

    Parameters
    ----------
    X : Samples
        All samples that have a feature.
    n_samples : int
        All samples; those without a feature belong to no leaf.
    trials : Trials
        How a split is tried.
    random_state : RandomState
        Gives each node a seed of its own, so that nodes can be tried side by side.
    soft : bool
        Whether a sample may belong to both children.

    Attributes
    ----------
    tree : Tree
        Grown so far. Nodes know their term weights: ``data["terms"]``, features by falling weight, and
        ``data["weights"]``; in a soft tree also ``data["samples"]`` and ``data["shares"]``.
    clock : Clock
        Where the time went.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.hierarchy.samples import Samples
    >>> from symclust.hierarchy.splits import RankTwo
    >>> from symclust.hierarchy.topic_growth import TopicGrowth
    >>> from symclust.hierarchy.trials import Trials
    >>> X = np.kron(np.eye(3), np.ones((4, 2))) + 0.01
    >>> growth = TopicGrowth(Samples.of(X), 12, Trials(RankTwo()), np.random.RandomState(0))
    >>> [len(leaf.members) for leaf in growth.grow(3).leaves()]
    [4, 4, 4]
    """

    def __init__(
        self,
        X: Samples,
        n_samples: int,
        trials: Trials,
        random_state: np.random.RandomState,
        soft: bool = False,
    ) -> None:
        self.tree = Tree(n_samples)
        self.trials = trials
        self.random_state = random_state
        self.soft = soft
        self.clock = Clock()
        self._tried: dict[int, Trial] = {}
        self._data: dict[int, dict[str, Array]] = {}
        total = X.transposed_times(np.ones((X.shape[0], 1), dtype=X.dtype))[:, 0]
        self.tree.nodes[0].data.update(topic(X.features, total / (np.linalg.norm(total) or 1)))
        self._root: Samples | None = X

    def grow(
        self,
        n_leaves: float = np.inf,
        threshold: float | None = None,
        after: Callable[[Tree, Node], object] | None = None,
    ) -> Tree:
        """Split the leaf of highest score until there are `n_leaves`, or none reaches the threshold.

        Parameters
        ----------
        n_leaves : int
            Leaves wanted.
        threshold : float, optional
            Leaves of a lower score stay whole.
        after : callable, optional
            Called with the tree and the node after each split; returning True stops.
        """
        X, self._root = self._root, None
        if X is not None and n_leaves > 1:
            self._tried[0] = self.trials(X, None, self._seed(), np.inf)
            self.clock.add(self._tried[0].clock)
            self._wake()
        del X

        def split(node: Node) -> tuple[Array, Array] | None:
            return self._split(node, threshold, is_last=self.tree.n_splits + 2 >= n_leaves)

        return grow(self.tree, n_leaves, split, self._score, highest=True, after=after)

    def _seed(self) -> int:
        return int(self.random_state.randint(SEEDS))

    def _score(self, node: Node) -> float:
        """Return a node's score, NaN where none was needed, and give the node what is known of it."""
        node.data.update(self._data.pop(node.number, {}))
        trial = self._tried.get(node.number)
        if trial is None or node.parent is None:  # line 3 of the algorithm calls the root's infinite
            return np.nan
        return trial.score if trial.waits == np.inf else CANNOT_BE_SPLIT

    def _split(self, node: Node, threshold: float | None, is_last: bool) -> tuple[Array, Array] | None:
        """Return the members of a node's children, having tried to split those; None for a final leaf."""
        trial = self._tried.pop(node.number)
        halves = trial.halves
        if halves is None or node.score < (threshold or 0):
            return None
        left, right = (trial.samples.members[part] for part in halves.parts())
        if self.soft:  # some are guests, who live elsewhere
            left, right = (part[np.isin(part, node.members)] for part in (left, right))
        if not (len(left) and len(right)):
            return None
        first = len(self.tree.nodes)
        for side in (0, 1):
            self._data[first + side] = self._describe(trial.samples, halves, side)
        if not is_last:
            self._try_children(trial, halves, first, self._lowest(node.score))
            self._wake()
        return left, right

    def _describe(self, samples: Samples, halves: Halves, side: int) -> dict[str, Array]:
        data = topic(samples.features, halves.terms[:, side])
        if self.soft:
            shares = _shares(halves)[:, side] * (1.0 if samples.shares is None else samples.shares)
            belong = np.flatnonzero(shares)
            data.update(samples=samples.members[belong], shares=shares[belong])
        return data

    def _lowest(self, score: float = np.inf) -> float:
        """Return the least positive score of the leaves, and of the one being split (line 10)."""
        ready = [trial.score for trial in self._tried.values() if trial.waits == np.inf]
        return min((s for s in (score, *ready) if s > 0), default=np.inf)

    def _wake(self) -> None:
        """Let leaves be split that waited for a leaf of so low a score, or for nobody any more."""
        lowest = self._lowest()
        for number, trial in self._tried.items():
            if (
                trial.halves is not None
                and trial.waits < np.inf
                and (lowest <= trial.waits or lowest == np.inf)
            ):
                trial.waits = np.inf
                if number < len(self.tree.nodes):  # others are about to be made, and ask for theirs
                    self.tree.nodes[number].score = trial.score

    def _try_children(self, trial: Trial, halves: Halves, first: int, lowest: float) -> None:
        seeds = self._seed(), self._seed()
        parts = map_blocks(lambda side: self._part(trial, halves, side), (0, 1))

        def one(side: int) -> Trial:
            samples, before, seconds = parts[side]
            tried = self.trials(samples, halves.terms[samples.columns, side], seeds[side], lowest, before)
            tried.clock.copies += seconds
            return tried

        # Side by side: while one sorts its terms the other can have all threads for its passes over the data.
        for side, tried in enumerate(map_blocks(one, (0, 1))):
            self._tried[first + side] = tried
            self.clock.add(tried.clock)

    def _part(self, trial: Trial, halves: Halves, side: int) -> tuple[Samples, Trial | None, float]:
        """Return a child's samples, its first trial where that is known, and the seconds it took."""
        if side in trial.known and not self.soft:
            return *trial.known[side], 0.0
        begun = perf_counter()
        if self.soft:
            shares = _shares(halves)[:, side]
            belong = np.flatnonzero(shares)
            part = trial.samples.take(belong).shared(shares[belong])
        else:
            part = trial.samples.take(np.flatnonzero(halves.side == side))
        return part, None, perf_counter() - begun


def topic(features: Array, weights: Array) -> dict[str, Array]:
    """Return the features of positive weight, by falling weight, and their weights."""
    order = falling_order(weights)[: np.count_nonzero(weights > 0)]
    order = order[
        np.argsort(-weights[order], kind="stable")
    ]  # nearly sorted: what is left is double precision
    return {"terms": features[order], "weights": weights[order]}


def _shares(halves: Halves) -> Array:
    """Return how much of each sample goes to either side: its memberships, which then sum to one.

    A share below a tenth is none: otherwise almost every sample would be in almost every leaf, and each level
    of the tree would cost as much as the root.
    """
    W = halves.memberships.astype(np.float64)
    sums = W.sum(axis=1, keepdims=True)
    shares = np.where(sums > 0, W / np.where(sums > 0, sums, 1), halves.side[:, None] == np.arange(2))
    shares[shares < LEAST_SHARE] = 0
    shares[shares > 1 - LEAST_SHARE] = 1
    return shares
