"""Nearest neighbours in blocks of rows, without an n × n array, and the graphs made of them.

A finder (`_finders.py`) proposes candidates fast. Their distances are then computed again from differences
and sorted. If more rows may tie with the last neighbour, or the finder has lost digits, a finer one proposes
again, and at last every row within reach is compared. Each block of rows runs on one thread, and its borders
depend on the data alone: so does the answer. Of many rows `_approximate.py` may propose candidates; then the
distances are exact and the choice is not.
"""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
from scipy import sparse

from symclust import _kernels
from symclust._optional import need
from symclust._threads import cached_property, map_blocks, single_threaded_blas, split
from symclust._types import Array, Features
from symclust.exceptions import CombinationError, InputError
from symclust.graphs._approximate import InvertedLists, TooScattered, has_faiss
from symclust.graphs._finders import ROWS, Brute, Finder, KdTree, SparseProduct

SPARE = 4  # candidates beyond those asked for: enough, unless many rows are equally far
CELLS = 1 << 20  # numbers compared at a time
TIE = 1e-10  # distances that agree to this share are equal: the rest is rounding
REACH = 1e-9  # a row is no candidate for a neighbour if it is this share beyond the last
TREE = 0.6  # trees win up to about this times log2(n) dimensions (measured: 8 for n = 20,000)
LARGE = 200_000  # rows from which candidates may be approximate: below, exact search takes seconds


class NeighborSearch:
    """Nearest neighbours among the rows of X, by Euclidean distance and, among equals, by number.

    Distances that agree to ten digits are equal: dense and sparse rows differ in rounding. `noise` is the
    difference of distances that are equal except for the rounding of X itself. The method "auto" is
    approximate if that is faster, the extra `ann` is installed, and recall is good.
    """

    _method = "exact"  # of searches stored before there was a choice

    def __init__(self, X: Features, noise: float = 0.0, method: str = "exact") -> None:
        _check_range(X, 1e-150)
        self.X, self._noise, self._method = X, noise, method

    def __getstate__(self) -> dict[str, Any]:
        # The finder holds X once more, and is quickly made again where a model is loaded.
        return {name: value for name, value in self.__dict__.items() if name != "_finder"}

    @cached_property
    def _finder(self) -> Finder:
        return choose_finder(self.X, self._method)

    def nearest(
        self, k: int, X_new: Features | None = None, rows: Array | None = None
    ) -> tuple[Array, Array]:
        """Return distances (float64) and row numbers of the k nearest rows, nearest first.

        Both arrays are m × k, or narrower if X has fewer rows. Neighbours are found for the m rows of
        `X_new`; by default for those of X, or those with the numbers `rows`, none of which is its own
        neighbour (a duplicate is).
        """
        if X_new is not None:
            _check_range(X_new, 0.0)
            Q, own = X_new, np.full(X_new.shape[0], -1)
        else:
            Q, own = (self.X, np.arange(self.X.shape[0])) if rows is None else (self.X[rows], rows)
        query = _Query(self.X, self._noise, Q, own, min(k, self.X.shape[0] - (X_new is None)))
        if query.k > 0:
            with single_threaded_blas():
                query.answer(self._finder)
        return query.distances, query.neighbors


class _Query:
    """The neighbours of the rows of Q, whose own numbers in X are in `own`, on their way."""

    def __init__(self, X: Features, noise: float, Q: Features, own: Array, k: int) -> None:
        self.X, self.noise, self.Q, self.own, self.k = X, noise, Q, own, k
        self.distances, self.neighbors = np.empty((own.size, k)), np.empty((own.size, k), dtype=np.intp)

    def answer(self, finder: Finder) -> None:
        """Take proposals, of finer finders if they leave doubt; compare if nothing else helps."""
        tied, unsure = self._propose(finder, np.arange(self.own.size))
        while unsure.size and finder.finer is not None:
            finder = finder.finer
            more, unsure = self._propose(finder, unsure)
            tied = np.append(tied, more)
        if tied.size + unsure.size:
            finder, rows = finder.finer or finder, np.sort(np.append(tied, unsure))
            parts = split(rows.size, max(1, 2 * CELLS // self.X.shape[0]))
            map_blocks(lambda part: self._compare_all(finder, rows[part]), parts)

    def _propose(self, finder: Finder, rows: Array) -> tuple[Array, Array]:
        """Rank what is proposed; return the rows with more ties than that, and those in other doubt."""
        Q = self.Q if rows.size == self.own.size else self.Q[rows]
        near = finder.candidates(Q, min(self.k + SPARE + 1, self.X.shape[0]))
        parts = split(rows.size, ROWS)
        found = map_blocks(lambda part: self._settle(finder, Q[part], rows[part], near[part]), parts)
        tied, unsure = (np.concatenate(part) for part in zip(*found, strict=True))
        return tied, unsure

    def _settle(self, finder: Finder, Q: Features, rows: Array, near: Array) -> tuple[Array, Array]:
        far = pair_distances(Q, self.X, np.repeat(np.arange(rows.size), near.shape[1]), near.ravel())
        far = far.reshape(near.shape)
        farthest = far.max(axis=1) ** 2
        self._rank(rows, far, near)
        if near.shape[1] == self.X.shape[0] or not finder.is_exact:
            return rows[:0], rows[:0]
        # A row that was not proposed is as far as the farthest that was, or nearer by the finder's errors.
        reach = (self.distances[rows, -1] * (1 + REACH) + 10 * self.noise) ** 2
        is_tied = farthest <= reach
        is_unsure = farthest - finder.errors(Q, farthest) <= reach
        return rows[is_tied], rows[is_unsure & ~is_tied]

    def _compare_all(self, finder: Finder, rows: Array) -> None:
        """Find neighbours among all rows up to the distance of the last one so far."""
        last, k = self.distances[rows, -1], self.k
        slack = last * TIE + self.noise
        found = finder.within(self.Q[rows], np.maximum(last - slack, 0), last + slack, k + 1)
        # Nothing is nearer than a duplicate: of thousands of them the first in number are enough.
        enough = np.where(last <= self.noise, 2 * k + 2, self.X.shape[0])
        self._compare(rows, [numbers[:size] for numbers, size in zip(found, enough, strict=True)])
        rest = np.flatnonzero((self.distances[rows, -1] > self.noise) & (enough < self.X.shape[0]))
        if rest.size:
            self._compare(rows[rest], [found[row] for row in rest])

    def _compare(self, rows: Array, found: list[Array]) -> None:
        """Rank the rows found for each of some rows; missing ones are infinitely far."""
        sizes = np.array([numbers.size for numbers in found])
        pairs, columns = np.repeat(np.arange(sizes.size), sizes), np.concatenate(found)
        places = np.arange(columns.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        shape = (sizes.size, max(self.k, int(sizes.max())))
        distances, neighbors = np.full(shape, np.inf), np.full(shape, self.X.shape[0])
        distances[pairs, places] = pair_distances(self.Q[rows], self.X, pairs, columns)
        neighbors[pairs, places] = columns
        self._rank(rows, distances, neighbors)

    def _rank(self, rows: Array, distances: Array, neighbors: Array) -> None:
        """Keep the first k by distance and, among equals, by number."""
        distances[neighbors == self.own[rows, None]] = np.inf  # by number, not by distance: duplicates stay
        order = np.lexsort((neighbors, distances))
        distances, neighbors = (np.take_along_axis(values, order, 1) for values in (distances, neighbors))
        apart = distances[:, 1:] > distances[:, :-1] * (1 + TIE) + self.noise
        ties = np.flatnonzero(~apart[:, : self.k].all(axis=1))
        if ties.size:
            ranks = np.cumsum(np.pad(apart[ties], ((0, 0), (1, 0))), axis=1)
            order = np.lexsort((neighbors[ties], ranks))
            distances[ties] = np.take_along_axis(distances[ties], order, 1)
            neighbors[ties] = np.take_along_axis(neighbors[ties], order, 1)
        self.distances[rows], self.neighbors[rows] = distances[:, : self.k], neighbors[:, : self.k]


def _check_range(X: Features, least: float) -> None:
    """Refuse rows so large, or all so small, that squared differences overflow or vanish."""
    values = X.data if sparse.issparse(X) else X
    largest = float(max(values.max(), -values.min())) if values.size else 0.0
    if largest > 1e150 or 0 < largest < least:
        raise InputError(
            f"Distances between the samples {'overflow' if largest > 1 else 'vanish'}: the largest entry is "
            f"{largest:.3g} in size. Rescale the features, for example with "
            "sklearn.preprocessing.StandardScaler."
        )


def choose_finder(X: Features, method: str = "exact") -> Finder:
    """Return the finder that is fastest for the form and shape of X among those that the method allows."""
    if method == "approximate":
        if sparse.issparse(X):
            raise CombinationError(
                "method='approximate' needs dense samples, and these are sparse: give X.toarray() if memory "
                "holds it, or method='exact'."
            )
        need("faiss", "ann", "method='approximate' (others: 'exact', 'auto')")
        return InvertedLists(X, all_lists=True)
    if sparse.issparse(X):
        return SparseProduct(X)
    n, d = X.shape
    if d <= max(2.0, TREE * log2(n)):
        return KdTree(X)
    if method == "auto" and n >= LARGE and has_faiss():
        try:
            return InvertedLists(X)
        except TooScattered:
            return Brute(X)
    return Brute(X)


# Chosen pairs of rows ---------------------------------------------------------------------------------------
# The expansion costs less for all pairs at once but loses the digits of near duplicates; for the few pairs of
# a neighbour graph differences are affordable.


def pair_distances(Q: Features, X: Features, rows: Array, columns: Array) -> Array:
    """Return ‖q_i − x_j‖ in float64 for paired row numbers i of Q and j of X."""
    return _compared(Q, X, rows, columns, True)


def pair_products(Q: Features, X: Features, rows: Array, columns: Array) -> Array:
    """Return q_iᵀx_j in float64 for paired row numbers i of Q and j of X."""
    return _compared(Q, X, rows, columns, False)


def _compared(Q: Features, X: Features, rows: Array, columns: Array, distances: bool) -> Array:
    out = np.empty(rows.size)
    if not sparse.issparse(X):
        Q = np.ascontiguousarray(Q, dtype=X.dtype)
        rows, columns = rows.astype(np.int64, copy=False), columns.astype(np.int64, copy=False)
        _kernels.compare_pairs(Q, np.ascontiguousarray(X), rows, columns, distances, out)
        return out
    for part in split(rows.size, max(1, CELLS // (X.nnz // X.shape[0] + 1))):
        left, right = Q[rows[part]].astype(np.float64), X[columns[part]].astype(np.float64)
        products = (left - right).power(2) if distances else left.multiply(right)
        out[part] = products.sum(axis=1)
    return np.sqrt(out, out=out) if distances else out


# Graphs -----------------------------------------------------------------------------------------------------


def index_type(n: int, edges: int) -> type[np.signedinteger]:
    """Return int32 when both numbers fit, twice over since `union` may double the edges: half the memory."""
    return np.int32 if max(n, 2 * edges) < np.iinfo(np.int32).max else np.int64


def directed(weights: Array, neighbors: Array, n: int) -> sparse.csr_array:
    """Return the graph with an edge from each row to each of its neighbours; weights of 0 are no edges."""
    m, q = neighbors.shape
    kind = index_type(n, m * q)
    indptr = np.arange(m + 1, dtype=kind) * kind(q)
    W = sparse.csr_array((weights.ravel(), neighbors.ravel().astype(kind), indptr), shape=(m, n))
    W.eliminate_zeros()
    W.sort_indices()
    return W


def union(W: sparse.csr_array) -> sparse.csr_array:
    """Return the graph that keeps an edge when either end chose it (24).

    Both ends give an edge the same weight up to rounding, and half the sum of two equal numbers is exact: the
    result is symmetric to the bit.
    """
    chosen = sparse.csr_array((np.ones(W.nnz, dtype=W.dtype), W.indices, W.indptr), shape=W.shape)
    E = (W + W.T).tocsr()
    E.data /= (chosen + chosen.T).tocsr().data
    return E


def union_among_new(W: sparse.csr_array, n: int) -> sparse.csr_array:
    """Return what new nodes chose of all, the n old ones first, with the union among the new ones alone."""
    return sparse.csr_array(sparse.hstack([W[:, :n], union(W[:, n:])], format="csr"))
