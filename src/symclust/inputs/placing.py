"""Placing unseen samples: each one's row of memberships from its similarities to the training samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from symclust._labels import empty_rows, memberships_of
from symclust._threads import cached_property, single_threaded_blas, split
from symclust._types import Array
from symclust.graphs import grouped, row_keys
from symclust.inputs.similarity import Similarity
from symclust.nnls import block_pivoting
from symclust.objectives import gram
from symclust.operators import RowBlocks, stacked

ROWS = 4096  # new samples at a time: a complete graph has a dense row for each
TINY = float(np.finfo(np.float64).tiny)


def halves(n: int) -> tuple[Array, Array]:
    """Return the numbers from 0 to n − 1 in two halves: one places samples, the other scores their places.

    The halves are as good as random, since an order of samples may mean something, and the same for every
    model and whatever the data: scores of two models are scores on the same entries.
    """
    order = np.random.RandomState(0).permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])


@dataclass(frozen=True)
class Placed:
    """Memberships H of samples, one row for each."""

    H: Array
    known: Array  # the number of the training sample that each is; −1 for unseen ones
    is_isolated: Array  # whether a sample has no similarity to any training sample


class Placer:
    """Solves min ‖w a − H h‖² for the similarities a of a new sample; known samples keep their rows.

    These rows are `members`, by default H. `solve` takes HᵀH and a right-hand side for each row to the rows
    h, with h ≥ 0 by default; `weight` is the factor w of similarities in the matrix that H fits. A sparse
    H ≥ 0 gives sparse rows h. The training samples are read here, once: later changes to them by the user
    have no effect.
    """

    H: Array

    def __init__(
        self,
        similarity: Similarity,
        H: Array,
        solve: Callable[[Array, Array], Array] = block_pivoting,
        weight: float = 1.0,
        members: Array | None = None,
    ) -> None:
        self.H = H
        self._set_up(similarity, solve, weight, members)

    def _set_up(
        self,
        similarity: Similarity,
        solve: Callable[[Array, Array], Array] = block_pivoting,
        weight: float = 1.0,
        members: Array | None = None,
    ) -> None:
        self.similarity, self.weight = similarity, weight
        self._minimise, self._members = solve, members
        samples = similarity.operator.matrix if similarity.rule.samples is None else similarity.rule.samples
        is_array = isinstance(samples, np.ndarray) or sparse.issparse(samples)
        self._known = KnownRows(samples) if is_array else None
        self._degrees = np.abs(similarity.operator.degrees().astype(np.float64))

    def place(self, X: Any) -> Placed:
        """Return the memberships of the rows of X."""
        n, parts = X.shape[0], []
        keys, known = np.empty((n, 2), dtype=np.uint64), np.full(n, -1)
        is_isolated = np.empty(n, dtype=bool)
        for rows, A in self._similarities(X):
            parts.append(self._place(A))
            is_isolated[rows] = empty_rows(A)
            if self._known is not None:
                keys[rows] = self._known.keys(A if self.similarity.rule.samples is None else X[rows])
        placed = stacked([self.H[:0], *parts])
        if self._known is not None:
            members = self.H if self._members is None else self._members
            known = self._known.find(keys)
            placed = _with_known(placed, members, known)
        return Placed(placed, known, is_isolated)

    def score(self, X: Any, labels: Array, read: Callable[[Array], Array]) -> float:
        r"""Agreement of the clusters of the rows of X with similarities held out.

        Rows are placed by one half of the training samples; with their similarities :math:`a_i` to the other
        half it is
        :math:`\sum_i (a_i(C_i) - p(C_i) a_i) / \sqrt{\sum_i a_i \sum_i (1 - p(C_i)) a_i}`, where
        :math:`a_i(C_i)` are those to the own cluster and :math:`p(C)` the share of a cluster in the degrees.
        The training samples have `labels`, and `read` makes labels of rows of memberships.
        """
        found = np.zeros(3)
        first, second = halves(len(labels))
        for _, A in self._similarities(X):
            for given, held_out in ((first, second), (second, first)):
                placed = read(self._limited_to(given)._place(A[:, given]))
                found += self._explained(A[:, held_out].astype(np.float64), placed, labels, held_out)
        beyond_chance, possible, total = found
        return float(beyond_chance / math.sqrt(possible * total)) if possible * total > 0 else 0.0

    def _limited_to(self, samples: Array) -> Placer:
        """Return the placer by similarities to some of the training samples alone."""
        part = copy(self)
        part.__dict__.pop("_gram", None)
        part.H = self.H[samples]
        return part

    def _explained(self, A: Any, placed: Array, labels: Array, held_out: Array) -> tuple[float, ...]:
        """Return the sum of A inside clusters beyond chance, the largest it could be, and that of all |A|.

        A holds the similarities of samples, `placed` in clusters, to the training samples held out.
        """
        sums, sizes = (np.asarray(M.sum(axis=1)).ravel() for M in (A, abs(A)))
        degrees, labels = self._degrees[held_out], labels[held_out]
        volumes = np.bincount(labels + 1, degrees, minlength=placed.max(initial=0) + 2)
        volumes[0] = 0  # of no cluster: nothing is expected there
        chance = volumes[placed + 1] / max(degrees.sum(), TINY)
        possible = (sizes + sums) / 2 - chance * sums  # positive ones inside, negative ones outside
        return _inside(A, placed, labels) - chance @ sums, possible.sum(), sizes.sum()

    def _similarities(self, X: Any) -> Iterator[tuple[slice, Any]]:
        for rows in split(X.shape[0], ROWS):
            yield rows, self.similarity.rule.extend(X[rows])

    def _place(self, A: Any) -> Array:
        """Return the rows of memberships of samples with similarities A."""
        if sparse.issparse(self.H):
            return self._place_by_row(A)
        with single_threaded_blas():
            attraction = np.ascontiguousarray(A @ self.H, dtype=self.H.dtype)
            attraction *= self.H.dtype.type(self.weight)
            return self._minimise(self._gram.astype(self.H.dtype), attraction)

    def _place_by_row(self, A: Any) -> sparse.csr_array:
        attraction = sparse.csr_array(sparse.csr_array(A) @ self.H, dtype=self.H.dtype)
        attraction.data *= self.H.dtype.type(self.weight)
        return solve_by_row(self._gram, attraction, self._minimise)

    @cached_property
    def _gram(self) -> Array:
        return gram(self.H)


def solve_by_row(
    G: Array, attraction: sparse.csr_array, minimise: Callable[[Array, Array], Array] = block_pivoting
) -> sparse.csr_array:
    """Solve each row where its right-hand side is not zero: elsewhere h = 0, since G = HᵀH ≥ 0."""
    attraction.eliminate_zeros()
    h = attraction.copy()
    with single_threaded_blas():
        for begin, end in pairwise(attraction.indptr):
            columns, sums = attraction.indices[begin:end], attraction.data[np.newaxis, begin:end]
            own = G[np.ix_(columns, columns)].astype(h.dtype)
            if end > begin:
                h.data[begin:end] = minimise(own, sums)[0]
    h.eliminate_zeros()
    return h


def _with_known(placed: Any, members: Any, known: Array) -> Any:
    """Return `placed` with the rows of known samples as `members` has them."""
    is_known = known >= 0
    if not sparse.issparse(placed):
        placed[is_known] = members[known[is_known]]
        return placed
    both = stacked([placed, members])
    return both[np.where(is_known, placed.shape[0] + known, np.arange(placed.shape[0]))]


def _inside(A: Any, rows: Array, columns: Array) -> float:
    """Return the sum of the entries of A, dense or sparse, whose row and column are in the same cluster."""
    if sparse.issparse(A):
        A = A.tocoo()
        i, j = A.coords
        return float(A.data[(rows[i] == columns[j]) & (rows[i] >= 0)].sum())
    return float(A[(rows[:, np.newaxis] == columns) & (rows >= 0)[:, np.newaxis]].sum())


class LabelPlacer(Placer):
    """Places a sample by its average similarity to the samples of each cluster.

    A tree may have thousands of leaves: the array H of zeros and ones is made when it is first needed.
    """

    def __init__(self, similarity: Similarity, labels: Array, n_clusters: int) -> None:
        self._set_up(similarity)
        self._labels, self._n_clusters = labels, n_clusters

    @cached_property
    def H(self) -> Array:
        """The memberships of the training samples."""
        return memberships_of(self._labels, self._n_clusters, self.similarity.operator.dtype)


# Training samples among new ones ----------------------------------------------------------------------------


class KnownRows:
    """Finds, for every row of a new matrix, the first row of the training matrix with the very same entries.

    Holds the `row_keys`, 16 bytes per row, not the rows.
    """

    def __init__(self, X: Any) -> None:
        self._dtype = X.dtype
        self._keys = self.keys(X)

    def find(self, keys: Array) -> Array:
        """Return the number of the matching training row for each key, -1 if there is none."""
        if np.array_equal(keys, self._keys):  # the training matrix: duplicates keep what each was given
            return np.arange(len(keys))
        first = self._first
        place = np.searchsorted(self._keys[first, 0], keys[:, 0]).clip(max=len(first) - 1)
        return np.where((self._keys[first[place]] == keys).all(axis=1), first[place], -1)

    def keys(self, X: Any) -> Array:
        """Return the two sums of each row of X, as an array of shape (n, 2)."""
        if isinstance(X, RowBlocks):
            return np.concatenate(X.gather(_keys_as, self._dtype))
        return _keys_as(X, self._dtype)

    @cached_property
    def _first(self) -> Array:
        """The numbers of the first rows with each key, in the order of the keys."""
        order, is_new = grouped(self._keys)
        return order[is_new]


def _keys_as(X: Any, dtype: Any) -> Array:
    return row_keys(X.astype(dtype, copy=False))
