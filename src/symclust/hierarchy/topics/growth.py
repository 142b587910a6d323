"""Trees of topics: which leaf is split next, into what, and who is left out (thesis, Algorithm 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from symclust._kernels import falling_order
from symclust._threads import map_blocks
from symclust._types import Array
from symclust.hierarchy.topics.block_samples import AnySamples
from symclust.hierarchy.topics.scores import CANNOT_BE_SPLIT, Score, mndcg
from symclust.hierarchy.topics.splits import Halves, Split
from symclust.hierarchy.tree import Node, Tree
from symclust.storage import keeper, series
from symclust.validation import is_true

SEEDS = 2**31 - 100  # leaves room for the seeds of a node's further splits


class TopicGrowth:
    """A tree of topics as it grows.

    A node's split is tried when the node appears, since its score needs it. The matrix of a node is freed
    once its children have theirs, so that all together hold X about twice.

    Samples without a feature are not in X but count in `n_samples`; they belong to no leaf. The random state
    gives each node a seed of its own, so that nodes can be tried side by side. The term weights of a node are
    in its `data`: ``terms``, features by falling weight, and ``weights``. `clock` shows where the time went.
    """

    def __init__(
        self,
        X: AnySamples,
        n_samples: int,
        trials: Trials,
        random_state: np.random.RandomState,
    ) -> None:
        self.tree = Tree(n_samples)
        self.trials = trials
        self.random_state = random_state
        self.clock = Clock()
        self._open: dict[int, Trial] = {}  # the leaves that may be split, in the order of their making
        total = X.total()
        self.tree.nodes[0].data.update(topic(X.features, total / (np.linalg.norm(total) or 1)))
        self._root: AnySamples | None = X

    def grow(
        self,
        n_leaves: float = np.inf,
        threshold: float | None = None,
        after: Callable[[Tree, Node], object] | None = None,
    ) -> Tree:
        """Split the leaf of highest score until there are `n_leaves`, or none reaches the threshold.

        `after` is called with the tree and the node after each split; returning True stops. Ctrl-C ends it
        with the tree grown so far, see `Tree.interruptible`.
        """
        with series("growth"), self.tree.interruptible():
            self._keep = keeper()
            if n_leaves > 1:
                self._try_root()
            while self._open and self.tree.n_splits + 1 < n_leaves:
                node = max((self.tree.nodes[number] for number in self._open), key=lambda node: node.score)
                trial = self._separated(node, self._open.pop(node.number), threshold)
                if trial is None:
                    node.is_final = True
                    continue
                self._split(node, trial, is_last=self.tree.n_splits + 2 >= n_leaves)
                if after is not None and is_true(after(self.tree, node)):
                    break
        return self.tree

    def _try_root(self) -> None:
        X, self._root = self._root, None  # freed once its children have theirs
        if X is not None:
            self._open[0] = self._try(X, None, self._seed(), self.clock, "node 0")

    def _separated(self, node: Node, trial: Trial, threshold: float | None) -> Trial | None:
        """Return a node's split into parts that are no outliers (lines 6 to 15), None if there is none.

        The root is split whatever it gives: a tree of one leaf helps nobody.
        """
        if trial.halves is None or len(node.members) < 2 or node.score < (threshold or 0):
            return None
        scores = [trial.score, *(other.score for other in self._open.values())]
        lowest = min((score for score in scores if score > 0), default=np.inf)
        first = trial
        for number in range(self.trials.n_trials):
            small = self._outliers(trial, lowest, f"node {node.number}, outliers {number}")
            if small is None:
                return trial
            with self.clock.on("copies"):
                rest = trial.samples.take(np.flatnonzero(trial.found.side != small))
            trial = self._try(rest, None, trial.seed + 1, self.clock, f"node {node.number}, rest {number}")
            if trial.halves is None:
                break
        return first if not (self.trials.n_trials and node.number) else None

    def _outliers(self, trial: Trial, lowest: float, name: str) -> int | None:
        """Return the side that is made of outliers (line 10), None if none is."""
        sizes = np.bincount(trial.found.side, minlength=2)
        small = int(sizes[1] < sizes[0])
        if sizes[1 - small] < self.trials.ratio * sizes[small]:
            return None
        trial.known[small] = inner = self._try(
            self._part(trial, small, self.clock), trial.terms(small), trial.seed, self.clock, name
        )
        return small if inner.score < lowest else None

    def _split(self, node: Node, trial: Trial, is_last: bool) -> None:
        """Give a node children, and try to split those unless they are the last."""
        parts = [trial.samples.members[part] for part in trial.found.parts()]
        children = self.tree.split(node.number, parts, [trial.terms(side) for side in (0, 1)])
        if is_last:
            return
        for child, own in zip(children, self._try_children(trial, children), strict=True):
            self._open[child.number] = own
            child.score = own.score

    def _try_children(self, trial: Trial, children: list[Node]) -> list[Trial]:
        seeds, clocks = (self._seed(), self._seed()), (Clock(), Clock())

        def one(side: int) -> Trial:
            if side in trial.known:
                return trial.known[side]
            name, terms = f"node {children[side].number}", children[side].data
            return self._try(self._part(trial, side, clocks[side]), terms, seeds[side], clocks[side], name)

        # Side by side: while one sorts its terms the other can have all threads for its passes over the data.
        tried = map_blocks(one, (0, 1))
        for clock in clocks:
            self.clock.add(clock)
        return tried

    @staticmethod
    def _part(trial: Trial, side: int, clock: Clock) -> AnySamples:
        with clock.on("copies"):
            return trial.samples.take(np.flatnonzero(trial.found.side == side))

    def _try(
        self, samples: AnySamples, terms: dict[str, Array] | None, seed: int, clock: Clock, name: str
    ) -> Trial:
        """Split and score; without terms of the node's own the score is infinite (line 3)."""
        with clock.on("splits"):
            fits = partial(_can_be_halves, samples)
            split = partial(self.trials.split, samples, np.random.RandomState(seed))
            halves = self._keep(name, split, fits)
        if halves is None:
            return Trial(samples, None, CANNOT_BE_SPLIT, seed)
        clock.n_iter += halves.n_iter
        if terms is None:
            return Trial(samples, halves, np.inf, seed)
        with clock.on("scores"):
            score = self.trials.score(*_on_terms(terms, samples.features, halves), samples, halves)
        return Trial(samples, halves if score >= 0 else None, score, seed)

    def _seed(self) -> int:
        return int(self.random_state.randint(SEEDS))


@dataclass
class Clock:
    """Iterations, and seconds added up over threads, by what they were spent on."""

    splits: float = 0.0
    copies: float = 0.0
    scores: float = 0.0
    n_iter: int = 0

    @contextmanager
    def on(self, what: str) -> Iterator[None]:
        """Count the seconds spent inside."""
        begun = perf_counter()
        yield
        setattr(self, what, getattr(self, what) + perf_counter() - begun)

    def add(self, other: Clock) -> None:
        """Add what another clock counted."""
        self.splits += other.splits
        self.copies += other.copies
        self.scores += other.scores
        self.n_iter += other.n_iter


@dataclass
class Trial:
    """A split of a node that has been tried, and its score.

    `samples` are those that remain after outliers were dropped; `halves` is None if a node cannot be split.
    `known` has the trial of a part, by its side, if it was tried already.
    """

    samples: AnySamples
    halves: Halves | None
    score: float
    seed: int
    known: dict[int, Trial] = field(default_factory=dict)

    @property
    def found(self) -> Halves:
        """The halves of a trial that has some."""
        assert self.halves is not None
        return self.halves

    def terms(self, side: int) -> dict[str, Array]:
        """Return the terms of a part, see `topic`."""
        return topic(self.samples.features, self.found.terms[:, side])


@dataclass(frozen=True)
class Trials:
    """How a node is split: into two well-separated parts, with outliers dropped on the way.

    A node is left whole after `n_trials` splits (T) that only cut off outliers; 0 looks for none. A part may
    be outliers if the other is at least `ratio` (β) times larger. `score` rates a split.
    """

    split: Split
    n_trials: int = 3
    ratio: float = 30.0
    score: Score = mndcg


def _can_be_halves(samples: AnySamples, answer: Any) -> bool:
    """Whether an answer from a file says of each sample which side it is on."""
    shape = (len(samples.members), 2)
    return answer is None or (
        isinstance(answer, Halves)
        and bool(np.isin(answer.side, (0, 1)).all())
        and (*answer.side.shape, 2) == answer.memberships.shape == shape
        and answer.terms.shape == (len(samples.features), 2)
        and isinstance(answer.n_iter, int)
    )


def _on_terms(terms: dict[str, Array], features: Array, halves: Halves) -> tuple[Array, Array, Array]:
    """Return the weights of a node's terms in it and in two parts; terms of none of its samples have zero."""
    order = np.argsort(terms["terms"])
    ranked = terms["terms"][order]
    place = np.searchsorted(ranked, features).clip(max=max(len(ranked) - 1, 0))
    has = np.flatnonzero(ranked[place] == features) if len(ranked) else np.empty(0, dtype=np.intp)
    parts = np.zeros((2, len(ranked)), dtype=halves.terms.dtype)
    parts[:, place[has]] = halves.terms[has].T
    return terms["weights"][order], *parts


def topic(features: Array, weights: Array) -> dict[str, Array]:
    """Return the features of positive weight, by falling weight, and their weights."""
    order = falling_order(weights)[: np.count_nonzero(weights > 0)]
    order = order[np.argsort(-weights[order], kind="stable")]  # nearly sorted: in single precision so far
    return {"terms": features[order], "weights": weights[order]}
