"""Consensus clustering: the number of clusters whose clustering changes least when it is repeated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from symclust._types import Array
from symclust.exceptions import CombinationError, DegenerateWarning, InputError, warn
from symclust.metrics import cophenetic_correlation
from symclust.selection._answer import Curve, Selection
from symclust.selection._consensus_matrix import ConsensusMatrix, area, dispersion
from symclust.selection._method import Method
from symclust.selection._study import Study
from symclust.validation import check_number

__all__ = ["Consensus", "ConsensusInit"]

SCORE = "cophenetic correlation"
MEASURES: dict[str, Callable[[Array], float]] = {
    SCORE: cophenetic_correlation,
    "dispersion": dispersion,
    "area under the cumulative distribution": area,
}
GROUPS = 5  # of runs, left out in turn: six matrices for each candidate, half a second each for 2,000 samples
SPREAD = "standard error over runs"
TIE = 1e-9  # scores that differ by less are equal

# Names of a start from random numbers other than "random", and all starts that are such.
RANDOM_START = {"KernelKMeans": "samples"}
STARTS_WITH_CHANCE = ("random", "samples", "k-means++")


class Consensus(Method):
    r"""Consensus clustering by resampling (Monti, Tamayo, Mesirov and Golub 2003; Kuang 2014, section 4.2).

    Each candidate clusters `n_resamples` random subsets of the samples. The consensus of two samples is the
    share of the subsets with both that put them into one cluster. The candidate whose consensus matrix an
    average-linkage tree fits best, by its cophenetic correlation, is chosen, and the largest of those that
    tie: clusters that are always merged are as stable as those that are always apart.

    The correlations of candidates are often alike, and none of them can mean one cluster: candidates begin at
    2. `Selection` therefore holds the matrices, and standard errors of all measures by the jackknife.

    Parameters
    ----------
    n_resamples : int, default=50
        How many subsets.
    share : float, default=0.8
        The share of the samples in each.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from symclust.selection import Features, Study
    >>> from symclust.selection.methods.consensus import Consensus
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> study = Study(Features(X), KMeans(n_init=3), (2, 3, 4, 5), np.random.RandomState(0))
    >>> Consensus(n_resamples=20).choose(study).n_clusters
    3
    """

    def __init__(self, n_resamples: int = 50, share: float = 0.8) -> None:
        self.n_resamples = n_resamples
        self.share = share

    def choose(self, study: Study) -> Selection:
        """Return the candidate with the largest cophenetic correlation."""
        check_number("n_resamples", self.n_resamples, least=2, whole=True)
        check_number("share", self.share, least=0, most=1, exclusive=True)
        runs = study.label_parts(self._subsets(study), "random subsets", place=False)
        source = f"in {self.n_resamples} random subsets of {self.share:.0%} of the samples"
        caution = (
            "The method cannot answer one cluster: candidates begin at 2, and data without clusters have a "
            "best candidate, too."
        )
        return _answer(study, "consensus", runs, source, caution)

    def _subsets(self, study: Study) -> list[Array]:
        n, size, most = study.data.n, round(self.share * study.data.n), max(study.candidates)
        if size < most:
            raise InputError(
                f"{self.share:.0%} of {n} samples are {size}, too few for {most} clusters: give a larger "
                "share, or smaller candidates."
            )
        if size == n:
            raise InputError(
                f"share={self.share} leaves none of {n} samples out, so that every subset is the same: give "
                "a smaller share."
            )
        return [np.sort(study.rng.choice(n, size, replace=False)) for _ in range(self.n_resamples)]


class ConsensusInit(Method):
    """Consensus clustering by random starts (Brunet, Tamayo, Golub and Mesirov 2004), for comparison.

    As `Consensus`, but each run clusters all samples, and only the random start of the estimator changes:
    ``init`` is set to random numbers and ``n_init`` to 1, where it has them.

    **Its measure says nothing about clusters** (Kuang 2014, section 4.3). Runs agree if the objective has few
    local minima, whether the data have clusters or not: on a single Gaussian NMF with k = 2 ends at the same
    two halves from every start, and the consensus matrix shows two perfect blocks. Use `Consensus`.

    Parameters
    ----------
    n_starts : int, default=50
        How many runs.
    """

    def __init__(self, n_starts: int = 50) -> None:
        self.n_starts = n_starts

    def choose(self, study: Study) -> Selection:
        """Return the candidate with the largest cophenetic correlation."""
        check_number("n_starts", self.n_starts, least=2, whole=True)
        started = replace(study, estimator=_started_at_random(study.estimator))
        parts = [np.arange(study.data.n)] * self.n_starts
        runs = started.label_parts(parts, "random starts", place=False)
        _warn_of_equal_runs(study.estimator, runs)
        source = f"from {self.n_starts} random starts on the same samples"
        caution = (
            "That runs from different starts agree says nothing about clusters: it shows how many local "
            "minima the objective has. Data without clusters give perfect agreement, too, and the method "
            "cannot answer one cluster; method='consensus' changes the samples instead."
        )
        return _answer(study, "consensus_init", runs, source, caution)


def _started_at_random(estimator: Any) -> Any:
    """Return a clone that starts once, from random numbers; refuse an estimator without chance."""
    known, name = estimator.get_params(deep=False), type(estimator).__name__
    if "random_state" not in known or not getattr(estimator, "_fits_by_chance", True):
        raise CombinationError(
            f"{name} leaves nothing to chance, so that all its runs would be the same: "
            "method='consensus_init' needs an estimator with random starts. method='consensus' works with "
            "every estimator."
        )
    changes: dict[str, Any] = {}
    if "init" in known and not callable(known["init"]):
        kept = isinstance(known["init"], str) and known["init"] in STARTS_WITH_CHANCE
        changes["init"] = known["init"] if kept else RANDOM_START.get(name, "random")
    if "n_init" in known:
        changes["n_init"] = 1  # the best of several starts would agree more often than starts do
    return clone(estimator).set_params(**changes)


def _warn_of_equal_runs(estimator: Any, runs: Array) -> None:
    """Warn where all runs agree in the numbers of their clusters, too, which chance would shuffle."""
    if (runs == runs[0]).all():
        warn(
            f"All {len(runs)} runs of {type(estimator).__name__} are equal, even in the numbers of their "
            "clusters: it seems to use no random numbers, and then this consensus means nothing.",
            DegenerateWarning,
        )


def _answer(study: Study, method: str, runs: Array, source: str, caution: str) -> Selection:
    """Measure the consensus of each candidate and choose."""
    seed, candidates = study.seeds(1)[0], np.array(study.candidates)
    # The same seed for all: where there are many samples, the candidates are compared on the same ones.
    tasks = [(runs[:, i], seed) for i in range(len(candidates))]
    found = study.map(_measure, tasks, "consensus matrices")
    matrices, values, errors = zip(*found, strict=True)
    columns = zip(MEASURES, np.transpose(values), np.transpose(errors), strict=True)
    curves = {name: Curve(value, error, SPREAD) for name, value, error in columns}
    best = _largest(curves[SCORE].values)
    consensus, k = dict(zip(study.candidates, matrices, strict=True)), study.candidates[best]
    return Selection(
        n_clusters=k,
        method=method,
        candidates=candidates,
        score=SCORE,
        curves=curves,
        sentence=f"{_reason(candidates, curves[SCORE], best, source)} {caution}",
        stability=consensus[k].stability(consensus[k].labels(k)),
        consensus=consensus,
    )


def _measure(labels: Array, seed: int) -> tuple[ConsensusMatrix, Array, Array]:
    """Return the consensus of runs, its measures, and their standard errors by the jackknife.

    A group of runs that is left out changes a measure by as much as others in its place would.
    """
    whole, groups = ConsensusMatrix(labels, random_state=seed), min(GROUPS, len(labels))
    others = [np.delete(labels, slice(g, None, groups), axis=0) for g in range(groups)]
    left = np.array([_values(ConsensusMatrix(part, random_state=seed)) for part in others])
    errors = np.sqrt((groups - 1) / groups * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    return whole, _values(whole), errors


def _values(consensus: ConsensusMatrix) -> Array:
    C = consensus.values
    return np.array([measure(C) for measure in MEASURES.values()])


def _largest(scores: Array) -> int:
    """Return the last of the largest scores, those that are not defined left out; the first if none is."""
    if np.isnan(scores).all():
        return 0
    return int(np.flatnonzero(scores >= np.nanmax(scores) - TIE)[-1])


def _reason(candidates: Array, curve: Curve, best: int, source: str) -> str:
    """Return the choice in words, with its distance from the next."""
    k, score = candidates[best], curve.values[best]
    if np.isnan(score):
        return f"{k} clusters, the smallest candidate: for each all pairs of samples are alike {source}."
    words = f"{k} clusters: the cophenetic correlation {source} is largest at k = {k}, {score:.3f}"
    others = np.where(np.arange(len(candidates)) == best, -np.inf, np.nan_to_num(curve.values, nan=-np.inf))
    second = int(others.argmax())
    if not np.isfinite(others[second]):
        return f"{words}; no other candidate has one."
    apart = score - others[second]
    error = np.hypot(*np.nan_to_num(curve.spread[[best, second]]))  # type: ignore[index]
    near = "as large" if apart <= TIE else "within the error of that" if apart <= 2 * error else "next"
    return f"{words}; {others[second]:.3f} at k = {candidates[second]} is {near}."
