"""The iterations of spherical k-means, many starts side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from symclust._threads import map_blocks, split
from symclust._types import Array
from symclust.operators import DenseFactor, Factor, SparseFactor

COLUMNS = 512  # of one product: X is read once for so many centres, of several starts
ENTRIES = 2**25  # numbers in one n × columns array: 256 MB
ROWS = 4096  # samples that one thread moves at a time


@dataclass
class SphericalRun:
    """One start on its way: labels, centres (d × k, of unit length) and the objective at every iteration."""

    centers: Array
    labels: Array | None = None
    objectives: list[float] = field(default_factory=list)
    done: bool = False


class SphericalRuns:
    """K-means on the unit sphere.

    An iteration reads X twice, however many starts there are: the cosines X C with all centres of all starts,
    and the sums Xᵀ Z of their clusters. A start that is done leaves the product.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
        Rows of unit length, or zero.
    n_clusters : int
        k.
    """

    def __init__(self, X: Any, n_clusters: int) -> None:
        self.X, self.k = X, n_clusters
        self.factor: Factor = SparseFactor(X) if sparse.issparse(X) else DenseFactor(X)
        self.n = X.shape[0]
        self.is_empty = np.asarray(abs(X).sum(axis=1)).reshape(-1) == 0

    def run(self, starts: Sequence[Array], max_iter: int) -> list[SphericalRun]:
        """Return where the runs end that start from these k samples each."""
        found: list[SphericalRun] = []
        for part in self.parts(len(starts), self.k):
            runs = [SphericalRun(self.rows(chosen).T) for chosen in starts[part]]
            for _ in range(max_iter):
                active = [run for run in runs if not run.done]
                if not active:
                    break
                self._advance(active)
            found += runs
        return found

    def parts(self, count: int, columns: int) -> Iterator[slice]:
        """Cut `count` starts, of so many columns each, into those that share a product."""
        return split(count, max(1, min(COLUMNS, ENTRIES // max(1, self.n)) // columns))

    def rows(self, chosen: Array) -> Array:
        """Return some samples as a dense array."""
        rows = self.X[chosen]
        return rows.toarray() if sparse.issparse(rows) else rows

    def cosines(self, centers: Sequence[Array]) -> Array:
        """Return x_iᵀ c for the centres (d × columns) of every start, as n × starts × columns."""
        C = np.ascontiguousarray(np.concatenate(centers, axis=1), dtype=self.X.dtype)
        return self.factor.times(C).reshape(self.n, len(centers), -1)

    def _advance(self, runs: list[SphericalRun]) -> None:
        cosines = self.cosines([run.centers for run in runs])
        for number, run in enumerate(runs):
            self._move(run, cosines[:, number])
        self._average(runs)

    def _move(self, run: SphericalRun, cosines: Array) -> None:
        """Move every sample to its nearest centre; one that gains nothing beyond rounding stays."""
        before, slack = run.labels, 16 * np.finfo(cosines.dtype).eps
        labels = np.empty(self.n, dtype=np.intp)

        def move(rows: slice) -> None:
            part = cosines[rows]
            labels[rows] = part.argmax(axis=1)
            if before is not None:
                each = np.arange(len(part))
                stays = part[each, labels[rows]] <= part[each, before[rows]] + slack
                labels[rows] = np.where(stays, before[rows], labels[rows])

        map_blocks(move, split(self.n, ROWS))
        run.labels = self._without_empty(labels, cosines)
        run.done = before is not None and bool(np.array_equal(before, run.labels))

    def _without_empty(self, labels: Array, cosines: Array) -> Array:
        """Give each empty cluster the sample farthest from its centre; the objective cannot get worse."""
        sizes = np.bincount(labels, minlength=self.k)
        if sizes.all():
            return labels
        # Samples without direction are last: they would leave the cluster without a centre.
        near = np.where(self.is_empty, 2.0, cosines[np.arange(self.n), labels])
        for empty in np.flatnonzero(sizes == 0):
            sample = int(np.where(sizes[labels] > 1, near, np.inf).argmin())
            sizes[labels[sample]] -= 1
            labels[sample], sizes[empty] = empty, 1
        return labels

    def _average(self, runs: list[SphericalRun]) -> None:
        """Renew centres, c_j = s_j / ‖s_j‖, and note the objective, n − Σ_j ‖s_j‖."""
        Z = np.zeros((self.n, len(runs), self.k), dtype=self.X.dtype)
        for number, run in enumerate(runs):
            Z[np.arange(self.n), number, run.labels] = 1
        sums = self.factor.transposed_times(Z.reshape(self.n, -1)).reshape(-1, len(runs), self.k)
        lengths = np.sqrt(np.einsum("dij,dij->ij", sums, sums, dtype=np.float64))
        for number, run in enumerate(runs):
            run.centers = sums[:, number] / np.where(lengths[number] > 0, lengths[number], 1)
            run.objectives.append(max(0.0, self.n - float(lengths[number].sum())))
