"""How often two samples are in one cluster when a clustering is repeated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.utils import check_random_state

from symclust._threads import cached_property
from symclust._types import Array
from symclust.exceptions import InputError, InputTypeError
from symclust.metrics import cophenetic_correlation
from symclust.validation import check_n_clusters, check_number

NOWHERE = -1  # the label of a sample that does not occur in a run
MOST = 2000  # samples whose pairs are all looked at: 32 MB, and a tree in a tenth of a second
COLUMNS = 1024  # clusters of different runs that one product takes
ROWS = 2048  # samples that are compared with those of the matrix at once
GRID = 101  # points at which the cumulative distribution is given
ROUNDING = 1e-9  # far below the difference of two frequencies


class ConsensusMatrix:
    r"""How often two samples are in one cluster, among the runs in which both occur.

    .. math:: c_{ij} = \sum_t c_{ij}^{(t)} / \sum_t s_{ij}^{(t)}

    with s the number of runs t with both samples, and c that of runs that put them into one cluster (Kuang
    2014, (33)-(35); Monti, Tamayo, Mesirov and Golub 2003).

    Of more than `max_samples` samples a random set of that size is drawn once: the matrix, its tree and its
    statistics are those of the pairs inside it, and no n × n array is made. All samples have labels and
    stabilities, by their consensus with the set.

    Parameters
    ----------
    labels : array-like of int, shape (n_runs, n_samples)
        The cluster of each sample in each run; −1 where a sample does not occur in a run, or is in none of
        its clusters. Clusters of different runs that happen to have the same number have nothing in common.
    max_samples : int, default=2000
        How many samples make up the matrix at most.
    random_state : int, RandomState or None, default=0
        Which they are, where there are more.

    Attributes
    ----------
    n_runs, n_samples : int
        The shape of `labels`.
    n_clusters : int
        The largest number of clusters in a run.
    samples : ndarray of int
        The numbers of the samples that make up the matrix, rising: all that occur in a run, or the set.

    Notes
    -----
    A pair that never occurs in the same run has the mean of all other pairs. Samples that occur in no run are
    not part of the matrix, and have label −1.

    Examples
    --------
    >>> from symclust.selection import ConsensusMatrix
    >>> consensus = ConsensusMatrix([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, -1]])
    >>> consensus.values.round(2)
    array([[1.  , 0.67, 0.  , 0.  ],
           [0.67, 1.  , 0.33, 0.  ],
           [0.  , 0.33, 1.  , 1.  ],
           [0.  , 0.  , 1.  , 1.  ]])
    >>> consensus.labels(2)
    array([1, 1, 0, 0])
    """

    def __init__(self, labels: ArrayLike, *, max_samples: int = MOST, random_state: Any = 0) -> None:
        check_number("max_samples", max_samples, least=2, whole=True)
        self._codes, self._first = _numbered(_read_labels(labels))
        self.n_runs, self.n_samples = self._codes.shape
        self.n_clusters = int(np.diff(self._first).max())
        self.samples = np.flatnonzero((self._codes >= 0).any(axis=0))
        if not self.samples.size:
            raise InputError("All labels are -1: no sample occurs in any run, so there is no consensus.")
        if self.samples.size > max_samples:
            rng = check_random_state(random_state)
            self.samples = np.sort(rng.choice(self.samples, int(max_samples), replace=False))

    def __repr__(self) -> str:
        part = "" if len(self.samples) == self.n_samples else f"{len(self.samples):,} of "
        return f"<ConsensusMatrix of {part}{self.n_samples:,} samples in {self.n_runs:,} runs>"

    @property
    def values(self) -> Array:
        """The consensus of each two of `samples`: symmetric, with ones on the diagonal.

        Computed at each use, in 0.1 seconds for 2,000 samples in 50 runs: the matrices of many numbers of
        clusters can be kept.
        """
        return self._consensus_with(self.samples)

    def linkage(self) -> Array:
        """Return the average-linkage tree on the distances 1 − C, in SciPy's form."""
        return self._tree.copy()

    def order(self) -> Array:
        """Return the order of the leaves of the tree, which shows ``labels(k)`` as blocks on the diagonal."""
        return hierarchy.leaves_list(self._tree) if len(self.samples) > 1 else np.arange(1)

    def labels(self, k: int | None = None) -> Array:
        """Return the branches of the tree, cut into k: the clusters that all runs together support.

        Samples outside the matrix join the cluster with which they have the largest mean consensus.

        Parameters
        ----------
        k : int, optional
            Number of clusters; by default `n_clusters`. There are fewer if no run has separated as many.

        Returns
        -------
        ndarray of int, shape (n_samples,)
            Clusters are numbered in the order of the tree; −1 for samples that occur in no run.
        """
        own = self._cut(self.n_clusters if k is None else check_n_clusters(k))
        found = np.full(self.n_samples, NOWHERE)
        found[self.samples] = own
        Z = (own[:, np.newaxis] == np.arange(own.max() + 1)) / np.bincount(own)
        for block in self._others():
            means = self._consensus_with(block) @ Z
            found[block] = np.where(means.any(axis=1), means.argmax(axis=1), NOWHERE)
        return found

    def cophenetic_correlation(self) -> float:
        """Return how well the tree fits the matrix: `symclust.metrics.cophenetic_correlation`."""
        return cophenetic_correlation(self.values)

    def dispersion(self) -> float:
        """Return how near the entries are to 0 and 1: the mean of 4 (c_ij − 1/2)² (Kim and Park 2007)."""
        return dispersion(self.values)

    def cdf(self, grid: ArrayLike | None = None) -> tuple[Array, Array]:
        """Return the cumulative distribution of the consensus of two different samples (Monti et al.).

        Stable clusters give two steps, at 0 and at 1, and a flat line between them.

        Parameters
        ----------
        grid : array-like of float, optional
            The points; by default 0, 0.01, ..., 1.

        Returns
        -------
        grid, shares : ndarray
            The points, and the share of pairs whose consensus is at most that large.
        """
        points = np.linspace(0, 1, GRID) if grid is None else np.asarray(grid, dtype=np.float64)
        pairs = np.sort(self._pairs())
        return points, np.searchsorted(pairs, points + ROUNDING, side="right") / max(pairs.size, 1)

    def area(self) -> float:
        """Return the area under the cumulative distribution from 0 to 1: one minus the mean consensus.

        It rises with k while further clusters separate samples, and hardly beyond the right number (Monti et
        al.). NaN for a single sample, which has no pair.
        """
        return area(self.values)

    def stability(self, labels: ArrayLike) -> Array:
        """Return the mean consensus of each sample with the other members of its cluster (Monti et al.).

        If the matrix holds a set of the samples, with those members that are in the set.

        Parameters
        ----------
        labels : array-like of int, shape (n_samples,)
            The cluster of each sample, for example ``labels(k)``; −1 for none.

        Returns
        -------
        ndarray of float, shape (n_samples,)
            From 0, always in other company, to 1. NaN for samples that are in no cluster or no run, or that
            are alone in their cluster.

        Examples
        --------
        >>> from symclust.selection import ConsensusMatrix
        >>> consensus = ConsensusMatrix([[0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1]])
        >>> consensus.stability([0, 0, 0, 1]).round(2).tolist()
        [0.83, 0.83, 0.67, nan]
        """
        given = np.asarray(labels)
        if given.shape != (self.n_samples,):
            raise InputError(
                f"labels has shape {given.shape}; expected one cluster for each of {self.n_samples} samples."
            )
        found = np.full(self.n_samples, np.nan)
        for block in (self.samples, *self._others()):
            found[block] = self._mean_with_own(block, given)
        return found

    @cached_property
    def _tree(self) -> Array:
        return hierarchy.linkage(1 - self._pairs(), method="average")

    @cached_property
    def _average(self) -> float:
        """The mean consensus of the pairs that occur in at least one run; 0 if there is none."""
        together, seen = self._counts(self.samples)
        np.fill_diagonal(seen, 0)
        known = seen > 0
        return float(np.mean(together[known] / seen[known], dtype=np.float64)) if known.any() else 0.0

    def _pairs(self) -> Array:
        """Return the entries of `values` above the diagonal, in rows."""
        return squareform(self.values, checks=False)

    def _others(self) -> list[Array]:
        """Return the samples that occur in runs but are not part of the matrix, in blocks."""
        rest = np.setdiff1d(np.flatnonzero((self._codes >= 0).any(axis=0)), self.samples)
        return [rest[i : i + ROWS] for i in range(0, rest.size, ROWS)]

    def _cut(self, k: int) -> Array:
        """Return the branch of each of `samples` when the last k − 1 mergers of the tree are undone.

        SciPy's "maxclust" would undo equal mergers together: four perfect blocks would never become two
        clusters. Samples that no run has separated, at height 0, stay together.
        """
        m = len(self.samples)
        if m == 1:
            return np.zeros(1, dtype=np.intp)
        rank = np.where(self._tree[:, 2] > ROUNDING, np.arange(1.0, m), 0.0)
        branches = hierarchy.fcluster(self._tree, m - min(k, m) + 0.5, criterion="monocrit", monocrit=rank)
        order = self.order()
        _, first, place = np.unique(branches[order], return_index=True, return_inverse=True)
        found = np.empty(m, dtype=np.intp)
        found[order] = np.argsort(np.argsort(first))[place]
        return found

    def _mean_with_own(self, block: Array, labels: Array) -> Array:
        """Return the mean consensus of samples with those members of their clusters that are in the set."""
        own = np.equal.outer(labels[block], labels[self.samples])
        own &= (labels[block] != NOWHERE)[:, np.newaxis] & np.not_equal.outer(block, self.samples)
        count = own.sum(axis=1)
        sums = np.einsum("ij,ij->i", self._consensus_with(block), own)
        return np.where(count > 0, sums / np.maximum(count, 1), np.nan)

    def _consensus_with(self, block: Array) -> Array:
        """Return the consensus (35) of samples with those of the matrix, one row per sample."""
        together, seen = self._counts(block)
        known = seen > 0
        C = np.divide(together, seen, out=np.zeros(seen.shape), where=known, dtype=np.float64)
        if not known.all():
            C[~known] = self._average
        return C

    def _counts(self, block: Array) -> tuple[Array, Array]:
        """Return in how many runs samples are together with those of the matrix, and occur with them.

        Products of zeros and ones in float32, which are exact up to 16 million runs: (33) and (34).
        """
        is_own = block is self.samples  # then NumPy forms one half of the product and copies it
        together = np.zeros((len(block), len(self.samples)), dtype=np.float32)
        for runs in self._groups():
            of_block = self._indicators(runs, block)
            together += of_block @ (of_block if is_own else self._indicators(runs, self.samples)).T
        of_block = (self._codes[:, block] >= 0).T.astype(np.float32)
        other = of_block if is_own else (self._codes[:, self.samples] >= 0).T.astype(np.float32)
        return together, of_block @ other.T

    def _groups(self) -> Iterator[slice]:
        """Cut the runs into groups of at most `COLUMNS` clusters, and of at least one run."""
        start = 0
        while start < self.n_runs:
            end = int(np.searchsorted(self._first, self._first[start] + COLUMNS, side="right")) - 1
            yield slice(start, max(end, start + 1))
            start = max(end, start + 1)

    def _indicators(self, runs: slice, block: Array) -> Array:
        """Return a row per sample and a column per cluster of the runs, with ones for its clusters."""
        codes = self._codes[runs][:, block]
        run, sample = np.nonzero(codes >= 0)
        first, last = self._first[runs.start], self._first[runs.stop]
        Z = np.zeros((codes.shape[1], last - first), dtype=np.float32)
        Z[sample, codes[run, sample] - first] = 1
        return Z


def dispersion(C: Array) -> float:
    """Return the dispersion of a consensus matrix, see `ConsensusMatrix.dispersion`."""
    return float(np.mean(4 * (C - 0.5) ** 2))


def area(C: Array) -> float:
    """Return the area under the cumulative distribution of the pairs of a consensus matrix.

    The integral of a distribution on [0, 1] is one minus its mean.
    """
    n = len(C)
    return float(1 - (C.sum() - np.trace(C)) / (n * (n - 1))) if n > 1 else float("nan")


def _read_labels(labels: ArrayLike) -> Array:
    """Return labels as an array of whole numbers, one row per run; refuse others."""
    try:
        found = np.asarray(labels)
    except ValueError as error:
        raise InputError(
            "labels has rows of different lengths; expected the cluster of every sample in each run, −1 for "
            "samples that do not occur in it."
        ) from error
    if found.dtype.kind not in "iu":
        raise InputTypeError(f"labels holds {found.dtype}; expected whole numbers, −1 for no cluster.")
    if found.ndim != 2 or not found.size:
        raise InputError(
            f"labels has shape {found.shape}; expected one row per run and one column per sample, at least "
            "one of each."
        )
    if found.min() < NOWHERE:
        raise InputError(f"labels contains {found.min()}; expected clusters from 0 on, and −1 for none.")
    return found.astype(np.int64)


def _numbered(labels: Array) -> tuple[Array, Array]:
    """Give the clusters of all runs numbers of their own; return them, and where those of each run begin."""
    codes = np.full(labels.shape, NOWHERE, dtype=np.int32)
    first = np.zeros(len(labels) + 1, dtype=np.intp)
    for t, run in enumerate(labels):
        placed = run != NOWHERE
        names, codes[t, placed] = np.unique(run[placed], return_inverse=True)
        codes[t, placed] += first[t]
        first[t + 1] = first[t] + names.size
    return codes, first
