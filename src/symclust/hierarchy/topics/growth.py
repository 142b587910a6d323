"""Trees of topics: which leaf is split next, into what, and who is left out (thesis, Algorithm 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
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
from symclust.storage import Keep, keeper, series
from symclust.validation import is_true

# From a split that is tried, and whether an answer fits it, to the answer.
KeepOne = Callable[[Callable[[], Halves | None], Callable[[Any], bool]], Halves | None]
SEEDS = 2**31 - 100  # leaves room for the seeds of a node's further trials


class TopicGrowth:
    """A tree of topics as it grows.

    A node's split is tried when the node appears, since its score needs it. The matrix of a node is freed
    once its children have theirs, so that all together hold X about twice.

    Parameters
    ----------
    X : Samples or BlockSamples
        All samples that have a feature.
    n_samples : int
        All samples; those without a feature belong to no leaf.
    trials : Trials
        How a split is tried.
    random_state : RandomState
        Gives each node a seed of its own, so that nodes can be tried side by side.

    Attributes
    ----------
    tree : Tree
        Grown so far. Nodes know their term weights: ``data["terms"]``, features by falling weight, and
        ``data["weights"]``.
    clock : Clock
        Where the time went.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.hierarchy import Samples, TopicGrowth, Trials
    >>> from symclust.hierarchy.topics.splits import rank_two
    >>> X = np.kron(np.eye(3), np.ones((4, 2))) + 0.01
    >>> growth = TopicGrowth(Samples.of(X), 12, Trials(rank_two), np.random.RandomState(0))
    >>> [len(leaf.members) for leaf in growth.grow(3).leaves()]
    [4, 4, 4]
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
                trial = self._open.pop(node.number)
                parts = self._parts(node, trial, threshold)
                if parts is None:
                    node.is_final = True
                    continue
                self._split(node, trial, parts, is_last=self.tree.n_splits + 2 >= n_leaves)
                if after is not None and is_true(after(self.tree, node)):
                    break
        return self.tree

    def _try_root(self) -> None:
        X, self._root = self._root, None  # freed once its children have theirs
        if X is not None:
            self._open[0] = self.trials(X, None, self._seed(), np.inf, self.clock, keep=self._kept(0))
            self._wake()

    def _parts(self, node: Node, trial: Trial, threshold: float | None) -> tuple[Array, Array] | None:
        """Return the members of a node's children, None if it stays whole."""
        if trial.halves is None or len(node.members) < 2 or node.score < (threshold or 0):
            return None
        left, right = (trial.samples.members[part] for part in trial.halves.parts())
        return left, right

    def _split(self, node: Node, trial: Trial, parts: tuple[Array, Array], is_last: bool) -> None:
        """Give a node children, and try to split those unless they are the last."""
        known = [topic(trial.samples.features, trial.found.terms[:, side]) for side in (0, 1)]
        children = self.tree.split(node.number, parts, known)
        if is_last:
            return
        tried = self._try_children(trial, children, self._lowest(node.score))
        for child, own in zip(children, tried, strict=True):
            self._open[child.number] = own
            child.score = own.score if own.waits == np.inf else CANNOT_BE_SPLIT
        self._wake()

    def _lowest(self, score: float = np.inf) -> float:
        """Return the least positive score of the leaves, and of the one being split (line 10)."""
        ready = [trial.score for trial in self._open.values() if trial.waits == np.inf]
        return min((s for s in (score, *ready) if s > 0), default=np.inf)

    def _wake(self) -> None:
        """Open leaves that waited for a leaf of so low a score, or for one that will not come."""
        lowest = self._lowest()
        for number, trial in self._open.items():
            if trial.waits < np.inf and (lowest <= trial.waits or lowest == np.inf):
                trial.waits = np.inf
                if number:  # the root is split whatever it scores: infinity in line 3, none here
                    self.tree.nodes[number].score = trial.score

    def _kept(self, number: int) -> Keep:
        """Return what keeps the splits that are tried of a node."""
        return lambda name, work, fits: self._keep(f"node {number}, {name}", work, fits)

    def _try_children(self, trial: Trial, children: list[Node], lowest: float) -> list[Trial]:
        seeds, clocks = (self._seed(), self._seed()), (Clock(), Clock())
        parts = map_blocks(lambda side: self._part(trial, side, clocks[side]), (0, 1))

        def one(side: int) -> Trial:
            samples, first = parts[side]
            weights = trial.found.terms[samples.columns, side]
            keep = self._kept(children[side].number)
            return self.trials(samples, weights, seeds[side], lowest, clocks[side], first, keep)

        # Side by side: while one sorts its terms the other can have all threads for its passes over the data.
        tried = map_blocks(one, (0, 1))
        for clock in clocks:
            self.clock.add(clock)
        return tried

    def _part(self, trial: Trial, side: int, clock: Clock) -> tuple[AnySamples, Trial | None]:
        """Return a child's samples, and its first trial where that is known."""
        if side in trial.known:
            return trial.known[side]
        with clock.on("copies"):
            return trial.samples.take(np.flatnonzero(trial.found.side == side)), None

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
    `known` has the samples and the first trial of a child, by its side, if it was tried already. A trial that
    `waits` for a leaf of at most that score must not be carried out before there is one.
    """

    samples: AnySamples
    halves: Halves | None
    score: float
    known: dict[int, tuple[AnySamples, Trial]] = field(default_factory=dict)
    waits: float = np.inf

    @property
    def found(self) -> Halves:
        """The halves of a trial that has some."""
        assert self.halves is not None
        return self.halves

    @property
    def score_of_small_part(self) -> float:
        """Score of the part that may be outliers; minus infinity if it has not been tried."""
        return max((inner.score for _, inner in self.known.values()), default=-np.inf)


@dataclass(frozen=True)
class Trials:
    """How a node's split is tried: into two well-separated parts, with outliers dropped on the way.

    Parameters
    ----------
    split : Split
        How samples are divided.
    n_trials : int
        T: a node is left whole after this many splits that only cut off outliers; 0 looks for none.
    ratio : float
        β: a part may be outliers if the other is at least this many times larger.
    score : Score
        How good a split is.
    """

    split: Split
    n_trials: int = 3
    ratio: float = 9.0
    score: Score = mndcg

    def __call__(
        self,
        samples: AnySamples,
        weights: Array | None,
        seed: int,
        lowest: float,
        clock: Clock,
        first: Trial | None = None,
        keep: Keep = lambda name, work, fits: work(),
    ) -> Trial:
        """Run lines 6 to 21 of Algorithm 6 for a node with these weights of its terms, None for the root.

        `lowest` is the least positive score of the leaves there are, `first` the first split if it is known,
        and `keep` returns the answer of a piece of work (`symclust.storage`).
        """
        trial = best = first or self._once(samples, weights, seed, clock, partial(keep, "trial 0"))
        for dropped in range(1, self.n_trials + 1):
            if trial.halves is None:
                return Trial(samples, None, CANNOT_BE_SPLIT)
            small = self._outliers(trial, seed, lowest, clock, partial(keep, f"outliers {dropped}"))
            if small is None:
                return trial
            if best.score_of_small_part <= 0:
                best = trial
            if dropped < self.n_trials:
                with clock.on("copies"):
                    rest = trial.samples.take(np.flatnonzero(trial.halves.side != small))
                weights = None if weights is None else weights[rest.columns]
                kept = partial(keep, f"trial {dropped}")
                trial = self._once(rest, weights, seed + dropped, clock, kept)
        return self._postponed(samples, best) if self.n_trials else trial

    def _once(
        self, samples: AnySamples, weights: Array | None, seed: int, clock: Clock, keep: KeepOne
    ) -> Trial:
        """Split and score; without weights of the node's own terms the score is infinite."""
        with clock.on("splits"):
            fits = partial(_can_be_halves, samples)
            halves = keep(lambda: self.split(samples, np.random.RandomState(seed)), fits)
        if halves is None:
            return Trial(samples, None, CANNOT_BE_SPLIT)
        clock.n_iter += halves.n_iter
        with clock.on("scores"):
            score = np.inf if weights is None else self.score(weights, samples, halves)
        return Trial(samples, halves if score >= 0 else None, score)

    def _outliers(self, trial: Trial, seed: int, lowest: float, clock: Clock, keep: KeepOne) -> int | None:
        """Return the side that is made of outliers (line 10), None if none is."""
        halves = trial.found
        sizes = np.bincount(halves.side, minlength=2)
        small = int(sizes[1] < sizes[0])
        if sizes[1 - small] < self.ratio * sizes[small]:
            return None
        with clock.on("copies"):
            part = trial.samples.take(np.flatnonzero(halves.side == small))
        inner = self._once(part, halves.terms[part.columns, small], seed, clock, keep)
        trial.known[small] = part, inner
        return small if inner.score < lowest else None

    @staticmethod
    def _postponed(samples: AnySamples, best: Trial) -> Trial:
        """Leave a node whole that loses outliers only, or until a leaf scores as low as those of one trial.

        Algorithm 6 would never split the node again (lines 20 and 21). But scores grow with the number of
        terms: while there are few and large leaves any small part looks like outliers, and the node may be
        half of X.
        """
        waits = best.score_of_small_part
        if waits <= 0 and best.score < np.inf:  # the root is split whatever it gives
            return Trial(samples, None, CANNOT_BE_SPLIT)
        return replace(best, waits=waits)


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


def topic(features: Array, weights: Array) -> dict[str, Array]:
    """Return the features of positive weight, by falling weight, and their weights."""
    order = falling_order(weights)[: np.count_nonzero(weights > 0)]
    order = order[np.argsort(-weights[order], kind="stable")]  # nearly sorted: in single precision so far
    return {"terms": features[order], "weights": weights[order]}
