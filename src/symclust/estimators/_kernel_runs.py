"""The iterations of kernel k-means, many starts side by side."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from symclust._threads import map_blocks, single_threaded_blas, split
from symclust.operators import Dense, Operator

Array = np.ndarray

COLUMNS = 512  # of one product: K is read once for so many clusters, of several starts


@dataclass
class Run:
    """One start on its way.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        The current clusters.
    sums : ndarray of shape (k, n)
        Weighted similarity of each sample to each cluster, K diag(w) Z transposed, for these labels.
    objectives, clock : list of float
        The objective at every iteration, and when it was known.
    """

    labels: Array
    sums: Array
    objectives: list[float] = field(default_factory=list)
    clock: list[float] = field(default_factory=list)
    done: bool = False


class KernelRuns:
    """Weighted kernel k-means from many starts.

    The squared distance of sample i to the centre of cluster j, with weights w and s_j = Σ_{l in j} w_l, is

    K_ii − 2 Σ_l w_l K_il / s_j + Σ_lm w_l w_m K_lm / s_j².

    Adding σ/w_i to K_ii changes the objective by a constant, and makes K definite where it is not.

    The sums Σ_l w_l K_il are kept from one iteration to the next. For a dense K, only the samples that
    changed their cluster are read; since those soon are few, a run costs a few products with K, not one an
    iteration. For other forms of K, one product renews the sums of all runs.

    Parameters
    ----------
    operator : Operator
        K.
    weights : ndarray of shape (n,)
        w, positive.
    shift : float
        σ.
    n_clusters : int
        k.
    """

    def __init__(self, operator: Operator, weights: Array, shift: float, n_clusters: int) -> None:
        self.operator, self.shift, self.k = operator, shift, n_clusters
        self.weights = weights.astype(operator.dtype)
        self.diagonal = operator.diagonal().astype(np.float64)
        self.constant = float(np.sum(weights * self.diagonal)) + shift * operator.n

    def run(self, starts: Sequence[Array], max_iter: int) -> list[Run]:
        """Return where the runs end that start from these labels."""
        found: list[Run] = []
        for part in self._parts(len(starts)):  # the sums of so many runs are held at a time
            runs = [Run(labels.copy(), np.empty((0, 0))) for labels in starts[part]]
            self._renew(runs)
            for _ in range(max_iter):
                active = [run for run in runs if not run.done]
                if not active:
                    break
                self._advance(active)
            for run in runs:
                run.sums = np.empty((0, 0))
            found += runs
        return found

    def nearest(self, centres: Sequence[Array]) -> list[Array]:
        """Return labels that put every sample to the nearest of k samples, for several such choices."""
        lengths = self.diagonal + self.shift / self.weights
        found = []
        for part in self._parts(len(centres)):
            Z = np.zeros((self.operator.n, len(centres[part]), self.k), dtype=self.operator.dtype)
            for number, chosen in enumerate(centres[part]):
                Z[chosen, number, np.arange(self.k)] = 1
            for product, chosen in zip(self._product(Z), centres[part], strict=True):
                labels = (lengths[chosen][:, None] - 2 * product).argmin(axis=0)
                labels[chosen] = np.arange(self.k)  # duplicates of a centre must not empty it
                found.append(labels)
        return found

    def _parts(self, count: int) -> Iterator[slice]:
        return split(count, max(1, COLUMNS // self.k))

    def _product(self, Z: Array) -> list[Array]:
        """Return (K Z)ᵀ for the k columns of every run, in one product."""
        n, count, k = Z.shape
        product = (self.operator @ Z.reshape(n, -1)).reshape(n, count, k)
        return [np.ascontiguousarray(product[:, number].T) for number in range(count)]

    def _renew(self, runs: list[Run]) -> None:
        Z = np.zeros((self.operator.n, len(runs), self.k), dtype=self.operator.dtype)
        for number, run in enumerate(runs):
            Z[np.arange(self.operator.n), number, run.labels] = self.weights
        for run, sums in zip(runs, self._product(Z), strict=True):
            run.sums = sums

    def _advance(self, runs: list[Run]) -> None:
        with single_threaded_blas():
            # Each run is a block of its own: the bits do not depend on who computes it.
            before = map_blocks(lambda part: self._move(runs[part.start]), split(len(runs), 1))
            moved = [(run, labels) for run, labels in zip(runs, before, strict=True) if not run.done]
            if isinstance(self.operator, Dense):
                array = self.operator.array
                map_blocks(lambda part: self._update(array, *moved[part.start]), split(len(moved), 1))
                return
        if moved:
            self._renew([run for run, _ in moved])

    def _update(self, array: Array, run: Run, before: Array) -> None:
        """Bring the sums up to date from the rows of the samples that moved."""
        changed = np.flatnonzero(run.labels != before)
        rows, weights = np.arange(len(changed)), self.weights[changed]
        moves = np.zeros((self.k, len(changed)), dtype=array.dtype)
        moves[run.labels[changed], rows] = weights
        moves[before[changed], rows] -= weights
        run.sums += moves @ array[changed]

    def _move(self, run: Run) -> Array:
        """Move every sample to its nearest centre; return the labels it had."""
        own, everyone = run.labels, np.arange(self.operator.n)
        total = np.bincount(own, self.weights, self.k)
        attraction = run.sums / total[:, None]
        lengths = (np.bincount(own, self.weights * attraction[own, everyone], self.k) + self.shift) / total
        run.objectives.append(self.constant - float(lengths @ total))
        run.clock.append(time.perf_counter())
        distance = lengths[:, None] - 2 * attraction
        distance[own, everyone] -= 2 * self.shift / total[own]
        labels = distance.argmin(axis=0)
        # A sample that another centre is only as near to stays, up to rounding.
        slack = 1e-12 if distance.dtype == np.float64 else 1e-5
        nearer = distance[labels, everyone] < distance[own, everyone] - slack * np.abs(lengths).max()
        run.labels = self._without_empty(np.where(nearer, labels, own), distance)
        run.done = bool(np.array_equal(run.labels, own))
        return own

    def _without_empty(self, labels: Array, distance: Array) -> Array:
        """Give each empty cluster the sample farthest from its own centre."""
        sizes = np.bincount(labels, minlength=self.k)
        for empty in np.flatnonzero(sizes == 0):
            apart = distance[labels, np.arange(len(labels))] + self.diagonal
            sample = int(np.where(sizes[labels] > 1, apart, -np.inf).argmax())
            sizes[labels[sample]] -= 1
            labels[sample] = empty
            sizes[empty] = 1
        return labels
