"""Spherical k-means from many starts side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from symclust._threads import map_blocks, split
from symclust._types import Array
from symclust.operators import DenseFactor, SparseFactor

COLUMNS = 512  # of one product: X is read once for this many centres, of several starts
ENTRIES = 2**25  # numbers in one array of n × columns or of d × columns: 256 MB
ROWS = 4096  # samples that one thread moves at a time
SLACK = 16  # times the machine precision: who is nearer by less is not nearer


@dataclass
class SphericalRun:
    """One start on its way: centres (d × k, of unit length), labels and the objective at every iteration.

    Of the runs that have ended, the best so far alone keeps its centres.
    """

    centers: Any
    labels: Any = None  # an array from the first iteration on
    objectives: list[float] = field(default_factory=list)
    done: bool = False


class SphericalRuns:
    """K-means on the unit sphere.

    An iteration reads X twice, however many starts there are: the cosines X C with all centres of all starts,
    and the sums Xᵀ Z of their clusters. A start that is done leaves the product.

    If X is sparse and the centres of a single start are too many numbers for one dense array, centres are
    sparse as well: together they have no more entries than X. Cosines with some of them at a time then come
    from a dense array of the features that X has.

    Rows of X have unit length or are zero. `factor` has the products with X and Xᵀ, `times` and
    `transposed_times`, if they are ready. `weights` are positive, ones by default.
    """

    def __init__(self, X: Any, n_clusters: int, factor: Any = None, weights: Array | None = None) -> None:
        self.k, (self.n, self.d) = n_clusters, X.shape
        self.weights = np.ones(self.n) if weights is None else weights
        self.features: Array | None = None  # the numbers of the features kept; None for all
        if sparse.issparse(X) and self.k * self.d > ENTRIES:
            X, self.features = _without_empty_features(X)
            factor = None
        self.X = X
        self.is_wide = sparse.issparse(X) and self.k * X.shape[1] > ENTRIES
        self.factor = factor or (SparseFactor(X) if sparse.issparse(X) else DenseFactor(X))
        self.is_empty = np.asarray(abs(X).sum(axis=1)).reshape(-1) == 0

    def run(self, starts: Sequence[Array], max_iter: int) -> list[SphericalRun]:
        """Return the ends of runs from these k samples each."""
        found: list[SphericalRun] = []
        for part in self.parts(len(starts), self.k):
            runs = [SphericalRun(self.rows(chosen).T) for chosen in starts[part]]
            for _ in range(max_iter):
                active = [run for run in runs if not run.done]
                if not active:
                    break
                self._advance(active)
            found += runs
            best = min(found, key=lambda run: run.objectives[-1])
            for run in found:
                run.centers = run.centers if run is best else None
        return found

    def descend(self, labels: Array, max_iter: int) -> SphericalRun:
        """Return the end of a run from clusters, none of them empty."""
        run = SphericalRun(None, labels)
        self._average([run])
        for _ in range(max_iter):
            if run.done:
                break
            self._advance([run])
        return run

    def parts(self, count: int, columns: int) -> Iterator[slice]:
        """Cut `count` starts, of this many columns each, into those that share a product."""
        most = min(COLUMNS, ENTRIES // max(1, *self.X.shape))
        return split(count, 1 if self.is_wide and columns > 1 else max(1, most // columns))

    def rows(self, chosen: Array) -> Any:
        """Return some samples, as a dense array unless centres are sparse."""
        rows = self.X[chosen]
        return rows.toarray() if sparse.issparse(rows) and not self.is_wide else rows

    def cosines(self, centers: Sequence[Any]) -> Array:
        """Return x_iᵀ c for the centres (d × columns) of every start, as n × starts × columns."""
        if sparse.issparse(centers[0]):
            C = sparse.hstack(centers, format="csc")
            blocks = split(C.shape[1], max(1, ENTRIES // max(1, C.shape[0])))
            products = [self.factor.times(C[:, block].toarray(order="C")) for block in blocks]
            return np.concatenate(products, axis=1).reshape(self.n, len(centers), -1)
        C = np.ascontiguousarray(np.concatenate(centers, axis=1), dtype=self.X.dtype)
        return self.factor.times(C).reshape(self.n, len(centers), -1)

    def components(self, centers: Any) -> Any:
        """Return centres (d × k) as rows over all features: an array, or sparse where X is."""
        if not sparse.issparse(self.X):
            return np.ascontiguousarray(centers.T, dtype=self.X.dtype)
        rows = sparse.csr_array(centers.T, dtype=self.X.dtype)
        columns = rows.indices if self.features is None else self.features[rows.indices]
        return sparse.csr_array((rows.data, columns, rows.indptr), shape=(self.k, self.d))

    def centers(self, components: Any) -> Any:
        """Return rows over all features as centres for `cosines`: the inverse of `components`."""
        C = components if self.features is None else components[:, self.features]
        C = C.toarray() if sparse.issparse(C) and not self.is_wide else C
        return C.T.astype(self.X.dtype)

    def _advance(self, runs: list[SphericalRun]) -> None:
        cosines = self.cosines([run.centers for run in runs])
        for number, run in enumerate(runs):
            run.centers = None  # frees the memory that the new ones need
            self._move(run, cosines[:, number])
        self._average(runs)

    def _move(self, run: SphericalRun, cosines: Array) -> None:
        """Move every sample to its nearest centre; one that gains nothing beyond rounding stays."""
        before, slack = run.labels, SLACK * np.finfo(cosines.dtype).eps
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
        """Renew centres, c_j = s_j / ‖s_j‖, and note the objective, Σ_i w_i − Σ_j ‖s_j‖."""
        if self.is_wide:
            lengths = np.array([self._average_sparsely(run) for run in runs])
        else:
            lengths = self._average_densely(runs)
        total = float(self.weights.sum())
        for run, own in zip(runs, lengths, strict=True):
            run.objectives.append(max(0.0, total - float(own.sum())))

    def _average_densely(self, runs: list[SphericalRun]) -> Array:
        Z = np.zeros((self.n, len(runs), self.k), dtype=self.X.dtype)
        for number, run in enumerate(runs):
            Z[np.arange(self.n), number, run.labels] = self.weights
        sums = self.factor.transposed_times(Z.reshape(self.n, -1)).reshape(-1, len(runs), self.k)
        lengths = np.sqrt(np.einsum("dij,dij->ij", sums, sums, dtype=np.float64))
        for number, run in enumerate(runs):
            run.centers = sums[:, number] / np.where(lengths[number] > 0, lengths[number], 1)
        return lengths

    def _average_sparsely(self, run: SphericalRun) -> Array:
        weights, place = self.weights.astype(self.X.dtype), np.arange(self.n + 1)
        Z = sparse.csr_array((weights, run.labels, place), shape=(self.n, self.k))
        sums = sparse.csr_array(Z.T @ self.X)
        squares = np.square(sums.data, dtype=np.float64)
        owners = np.repeat(np.arange(self.k), np.diff(sums.indptr))
        lengths = np.sqrt(np.bincount(owners, weights=squares, minlength=self.k))
        sums.data = (sums.data / lengths[owners]).astype(sums.dtype)
        run.centers = sums.T
        return lengths


def _without_empty_features(X: sparse.csr_array) -> tuple[sparse.csr_array, Array]:
    """Return X without the columns that have no entries, and the numbers of the others."""
    features, columns = np.unique(X.indices, return_inverse=True)
    columns = columns.astype(X.indices.dtype)
    return sparse.csr_array((X.data, columns, X.indptr), shape=(X.shape[0], len(features))), features


# Where runs start -------------------------------------------------------------------------------------------


def scattered_samples(runs: SphericalRuns, n_init: int, rng: np.random.RandomState) -> list[Array]:
    """Return k samples for each start, chosen as k-means++ does (Arthur and Vassilvitskii 2007).

    The next sample is drawn with probability proportional to its weight times 1 − cos with the nearest one so
    far, which on the sphere is half the squared distance. One product per sample serves all starts.
    """
    chosen = np.empty((n_init, runs.k), dtype=np.intp)
    far = np.repeat(np.where(runs.is_empty, 0.0, 1.0)[:, None], n_init, axis=1)
    for place in range(runs.k):
        chosen[:, place] = [_draw(column * runs.weights, runs.is_empty, rng) for column in far.T]
        for part in runs.parts(n_init, 1):
            cosines = runs.cosines([runs.rows(chosen[part, place]).T])[:, 0]
            far[:, part] = np.minimum(far[:, part], np.maximum(0, 1 - cosines))
            far[runs.is_empty, part] = 0
        far[chosen[:, place], np.arange(n_init)] = 0
    return list(chosen)


def _draw(weights: Array, is_empty: Array, rng: np.random.RandomState) -> int:
    total = np.cumsum(weights)
    if total[-1] > 0:
        return int(np.searchsorted(total, rng.uniform(0, total[-1]), side="right").clip(max=len(total) - 1))
    # Every direction is taken: a sample twice, whose cluster will be given the farthest sample instead.
    rest = np.flatnonzero(~is_empty)
    return int(rng.choice(rest if rest.size else len(weights)))


def opposite_samples(runs: SphericalRuns, rng: np.random.RandomState) -> Array | None:
    """Return a random sample and the one least similar to it, or None if all have its direction."""
    first = int(rng.randint(runs.n))
    cosines = runs.cosines([runs.rows(np.array([first])).T])[:, 0, 0]
    second = int(cosines.argmin())
    if cosines[second] >= 1 - SLACK * np.finfo(cosines.dtype).eps:
        return None
    return np.array([first, second])
