"""Kernel k-means from many starts side by side."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from symclust import _kernels
from symclust._threads import split
from symclust._types import Array
from symclust.k_means.plain import plain_k_means
from symclust.operators import Dense, Operator

KERNEL_INITS = ("auto", "samples", "spectral")  # where runs start
COLUMNS = 512  # of one product: K is read once for this many clusters, of several starts
SLACK = {"float64": 1e-12, "float32": 1e-5}  # of the longest centre: a centre nearer by less is not nearer


@dataclass
class KernelRun:
    """One start on its way."""

    labels: Array
    objectives: list[float] = field(default_factory=list)  # at every iteration
    clock: list[float] = field(default_factory=list)  # when they were known
    done: bool = False  # no sample changes its cluster any more


class KernelRuns:
    """Weighted kernel k-means from many starts.

    The squared distance of sample i to the centre of cluster j, with weights w and s_j = Σ_{l in j} w_l, is

    K_ii − 2 Σ_l w_l K_il / s_j + Σ_lm w_l w_m K_lm / s_j².

    Adding σ/w_i to K_ii changes the objective by a constant. If W^½ K W^½ + σI is positive semidefinite, K
    with that diagonal consists of inner products, and no iteration raises the objective. K is the operator,
    w the positive `weights`, ones by default, and σ the `shift`.
    """

    def __init__(
        self, operator: Operator, n_clusters: int, weights: Array | None = None, shift: float = 0.0
    ) -> None:
        self.operator, self.shift, self.k = operator, shift, n_clusters
        weights = np.ones(operator.n) if weights is None else weights
        self.weights = weights.astype(operator.dtype)
        self.diagonal = operator.diagonal().astype(np.float64)
        self.constant = float(np.sum(weights * self.diagonal)) + shift * operator.n

    def run(self, starts: Sequence[Array], max_iter: int) -> list[KernelRun]:
        """The ends of runs from these labels."""
        found: list[KernelRun] = []
        for part in self._parts(len(starts)):  # the sums of so many runs are held at a time
            found += _Batch(self, starts[part]).run(max_iter)
        return found

    def nearest(self, centres: Sequence[Array]) -> list[Array]:
        """Labels that put every sample to the nearest of k samples, for several such choices."""
        lengths = self.diagonal + self.shift / self.weights
        found = []
        for part in self._parts(len(centres)):
            rows = np.split(self.operator.rows(np.concatenate(centres[part])), len(centres[part]))
            for row, chosen in zip(rows, centres[part], strict=True):
                labels = (lengths[chosen][:, None] - 2 * row).argmin(axis=0)
                labels[chosen] = np.arange(self.k)  # duplicates of a centre must not empty it
                found.append(labels)
        return found

    def _parts(self, count: int) -> Iterator[slice]:
        return split(count, max(1, COLUMNS // self.k))


class _Batch:
    """Runs whose sums Σ_l w_l K_il are held together, and kept from one iteration to the next.

    For a dense K, only the samples that changed their cluster are read. They soon are few, so that a run
    costs a few products with K, not one per iteration. For other forms of K, one product renews the sums of
    all runs that go on.
    """

    def __init__(self, problem: KernelRuns, starts: Sequence[Array]) -> None:
        self.problem = problem
        self.labels = np.array(starts, dtype=np.int64)
        self.runs = [KernelRun(labels) for labels in self.labels]
        shape = (len(self.runs), problem.k)
        self.sums = np.empty((*shape, problem.operator.n), dtype=problem.operator.dtype)
        self.sizes = np.empty(shape, dtype=np.int64)
        self.totals, self.lengths = np.empty((2, *shape))

    def run(self, max_iter: int) -> list[KernelRun]:
        active = np.arange(len(self.runs), dtype=np.int64)
        self._renew(active)
        for _ in range(max_iter):
            before = self.labels.copy()
            self._move(active, before)
            active = active[[not self.runs[r].done for r in active]]
            if not active.size:
                break
            self._update(active, before)
        return self.runs

    def _move(self, active: Array, before: Array) -> None:
        """Move every sample of the active runs to its nearest centre."""
        problem = self.problem
        _kernels.kernel_k_means_move(
            self.sums, problem.weights, active, problem.shift, SLACK[self.sums.dtype.name],
            before, self.labels, self.sizes, self.totals, self.lengths,
        )  # fmt: skip
        for r in active[(self.sizes[active] == 0).any(axis=1)]:
            self._fill_empty(r, before[r])
        explained = np.einsum("rj,rj->r", self.lengths[active], self.totals[active])
        done = (self.labels[active] == before[active]).all(axis=1)
        now = time.perf_counter()
        for r, part, ended in zip(active, explained, done, strict=True):
            self.runs[r].objectives.append(self.problem.constant - float(part))
            self.runs[r].clock.append(now)
            self.runs[r].done = bool(ended)

    def _fill_empty(self, r: int, before: Array) -> None:
        """Give each empty cluster the sample farthest from its own centre."""
        labels, sizes, everyone = self.labels[r], self.sizes[r], np.arange(self.labels.shape[1])
        own = np.where(labels == before, self.problem.shift, 0.0)  # what a sample adds to its own centre
        attraction = (self.sums[r, labels, everyone] + own) / self.totals[r, labels]
        apart = self.lengths[r, labels] - 2 * attraction + self.problem.diagonal
        for empty in np.flatnonzero(sizes == 0):
            sample = int(np.where(sizes[labels] > 1, apart, -np.inf).argmax())
            sizes[labels[sample]] -= 1
            labels[sample], sizes[empty] = empty, 1

    def _update(self, active: Array, before: Array) -> None:
        K = self.problem.operator
        if isinstance(K, Dense):
            _kernels.kernel_k_means_update(
                K.array, self.problem.weights, active, before, self.labels, self.sums
            )
        else:
            self._renew(active)

    def _renew(self, active: Array) -> None:
        """Sum up anew, by one product for all the runs: K diag(w) Z."""
        n, k = self.problem.operator.n, self.problem.k
        Z = np.zeros((n, active.size, k), dtype=self.sums.dtype)
        for place, r in enumerate(active):
            Z[np.arange(n), place, self.labels[r]] = self.problem.weights
        product = (self.problem.operator @ Z.reshape(n, -1)).reshape(Z.shape)
        self.sums[active] = product.transpose(1, 2, 0)


def first_labels(runs: KernelRuns, init: str, n_init: int, rng: np.random.RandomState) -> list[Array]:
    """The labels that n_init runs start from; `init` is "auto", "samples" or "spectral".

    "samples" chooses k samples as centres. In a sparse graph most samples have nothing in common with any of
    them: there "auto" takes "spectral", k-means from different seeds on the leading eigenvectors.
    """
    n, k = runs.operator.n, runs.k
    if init == "auto":
        init = "samples" if runs.operator.is_dense else "spectral"
    if init == "samples" or k >= n:
        return runs.nearest([rng.choice(n, k, replace=False) for _ in range(n_init)])
    _, vectors = runs.operator.scaled(np.sqrt(runs.weights)).eigsh(k)
    seeds = rng.randint(np.iinfo(np.int32).max, size=n_init)
    rows = vectors / np.sqrt(runs.weights)[:, None]
    return [plain_k_means(rows, k, 1, seed).labels_.astype(np.intp) for seed in seeds]
