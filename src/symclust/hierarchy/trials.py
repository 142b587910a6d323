"""Splits that are tried: into what a node would fall, how well that divides its terms, who is left out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from symclust._types import Array
from symclust.hierarchy.samples import Samples
from symclust.hierarchy.scores import CANNOT_BE_SPLIT, Score, mndcg
from symclust.hierarchy.splits import Halves, Split


@dataclass
class Clock:
    """Iterations, and seconds added up over threads, by what they were spent on."""

    splits: float = 0.0
    copies: float = 0.0
    scores: float = 0.0
    n_iter: int = 0

    def add(self, other: Clock) -> None:
        """Add what another clock counted."""
        self.splits += other.splits
        self.copies += other.copies
        self.scores += other.scores
        self.n_iter += other.n_iter


@dataclass
class Trial:
    """A split of a node that has been tried: what it would give, and how good it is.

    `samples` are those that remain after outliers were dropped; `halves` is None where a node cannot be
    split. `known` holds what is known already of a child, by its side: its samples and its first trial. A
    trial that `waits` for a leaf of at most that score must not be carried out before there is one.
    """

    samples: Samples
    halves: Halves | None
    score: float
    known: dict[int, tuple[Samples, Trial]] = field(default_factory=dict)
    waits: float = np.inf
    clock: Clock = field(default_factory=Clock)


@dataclass(frozen=True)
class Trials:
    """Tries to split samples in two well-separated parts, with outliers dropped on the way.

    Parameters
    ----------
    split : Split
        How samples are divided.
    n_trials : int
        T: after so many splits that only cut off outliers, a node is left whole; 0 looks for none.
    ratio : float
        β: a part that the other is so many times larger than may be outliers.
    score : Score
        How good a split is.
    """

    split: Split
    n_trials: int = 3
    ratio: float = 9.0
    score: Score = mndcg

    def once(self, samples: Samples, weights: Array | None, seed: int) -> Trial:
        """Split and score; without weights of the node's own terms the score is infinite."""
        clock = Clock()
        begun = perf_counter()
        halves = self.split(samples, np.random.RandomState(seed))
        clock.splits += (then := perf_counter()) - begun
        if halves is None:
            return Trial(samples, None, CANNOT_BE_SPLIT, clock=clock)
        clock.n_iter += halves.n_iter
        score = np.inf if weights is None else self.score(weights, samples, halves)
        clock.scores += perf_counter() - then
        return Trial(samples, halves if score >= 0 else None, score, clock=clock)

    def __call__(
        self, samples: Samples, weights: Array | None, seed: int, lowest: float, first: Trial | None = None
    ) -> Trial:
        """Run lines 6 to 21 of Algorithm 6 for a node.

        Parameters
        ----------
        samples : Samples
            Of the node.
        weights : ndarray or None
            Of its terms; None for the root.
        seed : int
            Of the random numbers.
        lowest : float
            The least positive score of the leaves there are.
        first : Trial, optional
            The first split, where it is known.
        """
        trial = best = first or self.once(samples, weights, seed)
        clock = trial.clock
        for dropped in range(self.n_trials):
            if trial.halves is None:
                return Trial(samples, None, CANNOT_BE_SPLIT, clock=clock)
            small = self._outliers(trial, trial.halves, seed, clock, lowest)
            if small is None:
                return trial
            if _score_of_small_part(best) <= 0:
                best = trial
            if dropped + 1 < self.n_trials:
                begun = perf_counter()
                rest = trial.samples.take(np.flatnonzero(trial.halves.side != small))
                clock.copies += perf_counter() - begun
                weights = None if weights is None else weights[rest.columns]
                trial = self.once(rest, weights, seed + dropped + 1)
                clock.add(trial.clock)
                trial.clock = clock
        return self._postponed(samples, best, clock) if self.n_trials else trial

    @staticmethod
    def _postponed(samples: Samples, best: Trial, clock: Clock) -> Trial:
        """Leave a node whole that loses outliers only, or until a leaf scores as low as those of one trial.

        Algorithm 6 would never split the node again (lines 20 and 21). But scores grow with the number of
        terms: while there are few and large leaves any small part looks like outliers, and the node may be
        half of X.
        """
        waits = _score_of_small_part(best)
        if waits <= 0 and best.score < np.inf:  # the root is split whatever it gives
            return Trial(samples, None, CANNOT_BE_SPLIT, clock=clock)
        return replace(best, waits=waits, clock=clock)

    def _outliers(self, trial: Trial, halves: Halves, seed: int, clock: Clock, lowest: float) -> int | None:
        """Return the side that is made of outliers (line 10), None where none is."""
        sizes = np.bincount(halves.side, minlength=2)
        small = int(sizes[1] < sizes[0])
        if sizes[1 - small] < self.ratio * sizes[small]:
            return None
        begun = perf_counter()
        part = trial.samples.take(np.flatnonzero(halves.side == small))
        clock.copies += perf_counter() - begun
        inner = self.once(part, halves.terms[part.columns, small], seed)
        clock.add(inner.clock)
        inner.clock = Clock()
        trial.known[small] = part, inner
        return small if inner.score < lowest else None


def _score_of_small_part(trial: Trial) -> float:
    return max((inner.score for _, inner in trial.known.values()), default=-np.inf)
