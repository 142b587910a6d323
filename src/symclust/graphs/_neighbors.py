"""Nearest neighbours in blocks of rows, without an n × n array, and the graphs made of them.

A finder proposes candidates fast: SciPy's k-d tree in few dimensions, scikit-learn's blocked search in many,
a sparse product for sparse rows. Their distances are then computed again from differences and sorted. If more
rows may tie with the last neighbour, or the finder has lost digits, every row within reach is compared. Each
block of rows runs on one thread, and its borders depend on the data alone: so does the answer. Of many rows
`_approximate.py` may propose candidates; then the distances are exact and the choice is not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import log2
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from symclust._optional import need
from symclust._threads import (
    cached_property,
    map_blocks,
    single_threaded_blas,
    single_threaded_libraries,
    split,
)
from symclust._types import Array, Features
from symclust.exceptions import CombinationError, InputError
from symclust.graphs._approximate import InvertedLists, TooScattered, has_faiss

ROWS = 2048  # rows searched at a time
SPARE = 4  # candidates beyond those asked for: enough, unless many rows are equally far
CELLS = 1 << 20  # numbers gathered at a time
BLOCK_CELLS = 1 << 23  # numbers in the dense block that a sparse product is unpacked into: 64 MB
TIE = 1e-10  # distances that agree to this share are equal: the rest is rounding
REACH = 1e-9  # a row is no candidate for a neighbour if it is this share beyond the last
TREE = 0.6  # trees win up to about this times log2(n) dimensions (measured: 8 for n = 20,000)
LARGE = 30_000  # rows from which candidates may be approximate: below, exact search takes a second or two
MANY = 1000  # rows within reach from which a scan is faster than the tree's list of them


class NeighborSearch:
    """Nearest neighbours among the rows of X, by Euclidean distance and, among equals, by number.

    Distances that agree to ten digits are equal: dense and sparse rows differ in rounding.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
    noise : float
        The difference of distances that are equal except for the rounding of X itself.
    method : {"exact", "approximate", "auto"}
        "auto" is approximate if that is faster, the extra `ann` is installed, and recall is good.
    """

    _method = "exact"  # of searches stored before there was a choice

    def __init__(self, X: Features, noise: float = 0.0, method: str = "exact") -> None:
        _check_range(X, 1e-150)
        self.X, self._noise, self._method = X, noise, method
        self._rows = max(1, min(ROWS, BLOCK_CELLS // X.shape[0])) if sparse.issparse(X) else ROWS

    def __getstate__(self) -> dict[str, Any]:
        # The finder holds X once more, and is quickly made again where a model is loaded.
        return {name: value for name, value in self.__dict__.items() if name != "_finder"}

    @cached_property
    def _finder(self) -> Finder | InvertedLists:
        return choose_finder(self.X, self._method)

    def nearest(
        self, k: int, X_new: Features | None = None, rows: Array | None = None
    ) -> tuple[Array, Array]:
        """Return distances (float64) and row numbers of the k nearest rows, nearest first.

        Parameters
        ----------
        k : int
            Their number; all if there are fewer.
        X_new : ndarray or csr_array of shape (m, d), optional
            The rows whose neighbours are found; by default those of X, none of which is its own neighbour (a
            duplicate is).
        rows : ndarray, optional
            The numbers of the rows of X to be searched for; by default all.

        Returns
        -------
        distances, neighbors : ndarray of shape (m, k)
        """
        if X_new is not None:
            _check_range(X_new, 0.0)
            own = np.full(X_new.shape[0], -1)
        else:
            own = np.arange(self.X.shape[0]) if rows is None else rows
        k = min(k, self.X.shape[0] - (X_new is None))
        if k < 1:
            return np.empty((own.size, 0)), np.empty((own.size, 0), dtype=np.intp)
        blocks = list(split(own.size, self._rows))
        finder = self._finder  # made here, once, and not by all threads at the same time
        Q, places = (self.X, own) if X_new is None else (X_new, np.arange(own.size))
        with single_threaded_blas():
            parts = map_blocks(lambda part: self._block(finder, Q[places[part]], own[part], k), blocks)
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _block(self, finder: Finder | InvertedLists, Q: Features, own: Array, k: int) -> tuple[Array, Array]:
        """Return the neighbours of the rows of Q, whose own numbers in X are in `own`."""
        n = self.X.shape[0]
        neighbors = finder.candidates(Q, min(k + SPARE + 1, n))
        rows = np.repeat(np.arange(Q.shape[0]), neighbors.shape[1])
        distances = pair_distances(Q, self.X, rows, neighbors.ravel()).reshape(neighbors.shape)
        farthest = distances.max(axis=1)
        distances, neighbors = self._ranked(distances, neighbors, own, k)
        if k + SPARE + 1 >= n or isinstance(finder, InvertedLists):
            return distances, neighbors
        # A row that is no candidate is as far as the farthest candidate, or nearer by the finder's errors.
        last = distances[:, -1]
        reach = last * (1 + REACH) + 10 * self._noise
        unsure = np.flatnonzero(farthest**2 - finder.errors(Q, farthest**2) <= reach**2)
        for part in split(unsure.size, max(1, 2 * CELLS // n)):
            rows = unsure[part]
            distances[rows], neighbors[rows] = self._within(finder, Q[rows], own[rows], last[rows], k)
        return distances, neighbors

    def _within(self, finder: Finder, Q: Features, own: Array, last: Array, k: int) -> tuple[Array, Array]:
        """Return the neighbours of the rows of Q among all rows up to the distance `last`."""
        slack = last * TIE + self._noise
        found = finder.within(Q, np.maximum(last - slack, 0), last + slack, k + 1)
        # Nothing is nearer than a duplicate: of thousands of them the first in number are enough.
        enough = np.where(last <= self._noise, 2 * k + 2, self.X.shape[0])
        first = [numbers[:size] for numbers, size in zip(found, enough, strict=True)]
        distances, neighbors = self._compared(Q, own, first, k)
        rest = np.flatnonzero((distances[:, -1] > self._noise) & (enough < self.X.shape[0]))
        if rest.size:
            whole = [found[row] for row in rest]
            distances[rest], neighbors[rest] = self._compared(Q[rest], own[rest], whole, k)
        return distances, neighbors

    def _compared(self, Q: Features, own: Array, found: list[Array], k: int) -> tuple[Array, Array]:
        """Return the k nearest of the rows found for each row of Q; missing ones are infinitely far."""
        sizes = np.array([numbers.size for numbers in found])
        rows, columns = np.repeat(np.arange(sizes.size), sizes), np.concatenate(found)
        places = np.arange(columns.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        shape = (sizes.size, max(k, int(sizes.max())))
        distances, neighbors = np.full(shape, np.inf), np.full(shape, self.X.shape[0])
        distances[rows, places] = pair_distances(Q, self.X, rows, columns)
        neighbors[rows, places] = columns
        return self._ranked(distances, neighbors, own, k)

    def _ranked(self, distances: Array, neighbors: Array, own: Array, k: int) -> tuple[Array, Array]:
        """Return the first k by distance and, among equals, by number."""
        distances[neighbors == own[:, None]] = np.inf  # by number, not by distance: duplicates stay
        order = np.lexsort((neighbors, distances))
        distances, neighbors = (np.take_along_axis(values, order, 1) for values in (distances, neighbors))
        apart = distances[:, 1:] > distances[:, :-1] * (1 + TIE) + self._noise
        ties = np.flatnonzero(~apart[:, :k].all(axis=1))
        if ties.size:
            ranks = np.cumsum(np.pad(apart[ties], ((0, 0), (1, 0))), axis=1)
            order = np.lexsort((neighbors[ties], ranks))
            distances[ties] = np.take_along_axis(distances[ties], order, 1)
            neighbors[ties] = np.take_along_axis(neighbors[ties], order, 1)
        return distances[:, :k], neighbors[:, :k]


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


# Finders ----------------------------------------------------------------------------------------------------


class Finder(Protocol):
    """Proposes neighbours of rows: fast, right up to rounding, on one thread."""

    def candidates(self, Q: Features, count: int) -> Array:
        """Return the numbers of the `count` nearest rows, in any order."""
        ...

    def errors(self, Q: Features, squared: Array) -> Array:
        """Return the largest error of squared distances of this size from each row of Q."""
        ...

    def within(self, Q: Features, last: Array, reach: Array, count: int) -> list[Array]:
        """Return the numbers of all rows that may be within reach of each row of Q, in order.

        Rows that surely are between `last` and `reach` are equally far: the first `count` of them.
        """
        ...


def choose_finder(X: Features, method: str = "exact") -> Finder | InvertedLists:
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


class KdTree:
    """A k-d tree on the rows; costs grow with 2^d but hardly with n. It works on differences."""

    def __init__(self, X: Array) -> None:
        self._X, self._tree = X, cKDTree(X)

    def candidates(self, Q: Array, count: int) -> Array:
        """Return the numbers of the `count` nearest rows."""
        return self._tree.query(Q, count)[1].reshape(Q.shape[0], count)

    def errors(self, Q: Array, squared: Array) -> Array:
        """Return zeros."""
        return np.zeros(Q.shape[0])

    def within(self, Q: Array, last: Array, reach: Array, count: int) -> list[Array]:
        """Return the numbers of all rows within reach."""
        many = self._tree.query_ball_point(Q, reach, return_length=True) > MANY
        found = np.empty(Q.shape[0], dtype=object)
        found[~many] = self._tree.query_ball_point(Q[~many], reach[~many], return_sorted=True)
        for row in np.flatnonzero(many):
            squared = cdist(Q[row : row + 1], self._X, "sqeuclidean")
            found[row] = _first_of_equals(squared, squared, last[row] ** 2, reach[row] ** 2, count)[0]
        return [np.asarray(numbers, dtype=np.intp) for numbers in found]


def _first_of_equals(
    least: Array, most: Array, last: Array | float, reach: Array | float, count: int
) -> list[Array]:
    """Return for each row the columns whose numbers, from `least` to `most`, may be within reach.

    Of those that surely are between `last` and `reach` only the first `count`.
    """
    inside = least <= reach
    equal = inside & (least >= last) & (most <= reach)
    inside &= ~(equal & (np.cumsum(equal, axis=1, dtype=np.int32) > count))
    return [np.flatnonzero(row) for row in inside]


class Expansion(ABC):
    """‖q‖² + ‖x‖² − 2qᵀx: one product for all pairs, but between rows far from the origin it loses digits.

    A subclass moves the origin, so that fewer are lost, and makes the products.
    """

    _norms: Array  # ‖x‖² of all rows
    _rounding: float  # of a product, as a share of ‖q‖² + ‖x‖²

    @abstractmethod
    def _closeness(self, Q: Any) -> Array:
        """Return ‖x‖² − 2qᵀx for all rows x: the squared distance except for ‖q‖²."""

    @abstractmethod
    def _squares(self, Q: Any) -> Array:
        """Return ‖q‖²."""

    def errors(self, Q: Features, squared: Array) -> Array:
        """Return the largest error of distances of this size; ‖x‖² is at most 2‖q‖² + 2‖x − q‖²."""
        return self._rounding * (6 * self._squares(Q) + 4 * squared)

    def within(self, Q: Features, last: Array, reach: Array, count: int) -> list[Array]:
        """Return the numbers of all rows that may be within reach."""
        own = self._squares(Q)[:, None]
        squared = self._closeness(Q)
        squared += own
        rounding = self._rounding * (own + self._norms)
        bounds = last[:, None] ** 2, reach[:, None] ** 2
        return _first_of_equals(squared - rounding, squared + rounding, *bounds, count)


def _rounding(width: int) -> float:
    """Return a generous bound on the error of a sum of `width` products, as a share of ‖q‖² + ‖x‖²."""
    return float(np.finfo(np.float64).eps) * (64 + 4 * width**0.5)


class Brute(Expansion):
    """Dense rows, with their mean as the origin; candidates come from scikit-learn's blocked search."""

    def __init__(self, X: Array) -> None:
        self._center = X.mean(axis=0, dtype=np.float64)
        self._X = X - self._center
        self._search = NearestNeighbors(algorithm="brute").fit(self._X)
        self._norms = np.einsum("ij,ij->i", self._X, self._X)
        self._rounding = _rounding(X.shape[1])

    def candidates(self, Q: Array, count: int) -> Array:
        """Return the numbers of the `count` nearest rows."""
        # Among ties scikit-learn's own threads would let the fastest win.
        with single_threaded_libraries():
            return self._search.kneighbors(Q - self._center, count, return_distance=False)

    def _squares(self, Q: Array) -> Array:
        return np.square(Q - self._center).sum(axis=1)

    def _closeness(self, Q: Array) -> Array:
        return self._norms - 2 * ((Q - self._center) @ self._X.T)


class SparseProduct(Expansion):
    """Sparse rows: each block of them meets the transpose, made once.

    Columns in which most rows have an entry are held as a dense array, less their mean: there a common offset
    may be. That takes at most twice the memory of their entries.
    """

    def __init__(self, X: sparse.csr_array) -> None:
        counts = np.bincount(X.indices, minlength=X.shape[1])
        full = 2 * counts > X.shape[0]
        self._full, self._rest = np.flatnonzero(full), np.flatnonzero(~full)
        self._center = X[:, self._full].mean(axis=0, dtype=np.float64) if self._full.size else np.empty(0)
        thin, self._thick = self._parts(X)
        self._transpose = thin.T.tocsr()
        self._norms = self._squares(X)
        self._rounding = _rounding(int(np.diff(X.indptr).max(initial=0)) + self._full.size)

    def _parts(self, Q: sparse.csr_array) -> tuple[sparse.csr_array, Array]:
        Q = Q.astype(np.float64)
        if not self._full.size:
            return Q, np.empty((Q.shape[0], 0))
        return Q[:, self._rest], Q[:, self._full].toarray() - self._center

    def candidates(self, Q: sparse.csr_array, count: int) -> Array:
        """Return the numbers of the `count` nearest rows."""
        return np.argpartition(self._closeness(Q), count - 1, axis=1)[:, :count]

    def _squares(self, Q: sparse.csr_array) -> Array:
        thin, thick = self._parts(Q)
        return thin.power(2).sum(axis=1) + np.einsum("ij,ij->i", thick, thick)

    def _closeness(self, Q: sparse.csr_array) -> Array:
        thin, thick = self._parts(Q)
        closeness = (thin @ self._transpose).toarray()
        if self._full.size:
            closeness += thick @ self._thick.T
        closeness *= -2
        closeness += self._norms
        return closeness


# Chosen pairs of rows ---------------------------------------------------------------------------------------
# The expansion costs less for all pairs at once but loses the digits of near duplicates; for the few pairs of
# a neighbour graph differences are affordable.


def pair_distances(Q: Features, X: Features, rows: Array, columns: Array) -> Array:
    """Return ‖q_i − x_j‖ in float64 for paired row numbers i of Q and j of X."""
    return _in_blocks(_distances, Q, X, rows, columns)


def pair_products(Q: Features, X: Features, rows: Array, columns: Array) -> Array:
    """Return q_iᵀx_j in float64 for paired row numbers i of Q and j of X."""
    return _in_blocks(_products, Q, X, rows, columns)


Measure = Callable[[Features, Features], Array]


def _in_blocks(measure: Measure, Q: Features, X: Features, rows: Array, columns: Array) -> Array:
    width = X.nnz // X.shape[0] + 1 if sparse.issparse(X) else X.shape[1]
    out = np.empty(rows.size)
    for part in split(rows.size, max(1, CELLS // width)):
        out[part] = measure(Q[rows[part]], X[columns[part]])
    return out


def _distances(left: Features, right: Features) -> Array:
    if sparse.issparse(left):
        difference = left.astype(np.float64) - right.astype(np.float64)
        return np.sqrt(difference.multiply(difference).sum(axis=1))
    difference = np.subtract(left, right, dtype=np.float64)
    return np.sqrt(np.einsum("ij,ij->i", difference, difference))


def _products(left: Features, right: Features) -> Array:
    if sparse.issparse(left):
        return left.astype(np.float64).multiply(right.astype(np.float64)).sum(axis=1)
    return np.einsum("ij,ij->i", left, right, dtype=np.float64)


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
