"""Finders of candidates for nearest neighbours: fast, and right up to rounding, whose size they know."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from symclust import _kernels
from symclust._threads import cached_property, map_blocks, split
from symclust._types import Array, Features

ROWS = 2048  # rows searched at a time
BLOCK_CELLS = 1 << 23  # numbers in the dense block that a sparse product is unpacked into: 64 MB
MANY = 1000  # rows within reach from which a scan is faster than the tree's list of them
TILE = 512  # rows and columns of a block of products: 1 MB in single precision, which stays in the cache


class Finder(ABC):
    """Proposes neighbours of rows."""

    is_exact: ClassVar[bool] = True  # whether nothing but rounding can hide a neighbour
    finer: Finder | None = None  # one with smaller errors
    _rows = ROWS  # searched at a time

    def candidates(self, Q: Features, count: int) -> Array:
        """Return the numbers of the `count` nearest rows to each row of Q, in any order."""
        parts = map_blocks(lambda part: self._block(Q[part], count), split(Q.shape[0], self._rows))
        return np.concatenate(parts)

    def _block(self, Q: Features, count: int) -> Array:
        """Return the candidates of a block of rows, found on one thread."""
        raise NotImplementedError

    @abstractmethod
    def errors(self, Q: Features, squared: Array) -> Array:
        """Return the largest error of squared distances of this size from each row of Q."""

    @abstractmethod
    def within(self, Q: Features, last: Array, reach: Array, count: int) -> list[Array]:
        """Return the numbers of all rows that may be within reach of each row of Q, in order.

        Rows that surely are between `last` and `reach` are equally far: the first `count` of them.
        """


class KdTree(Finder):
    """A k-d tree on the rows; costs grow with 2^d but hardly with n. It works on differences."""

    def __init__(self, X: Array) -> None:
        self._X, self._tree = X, cKDTree(X)

    def _block(self, Q: Array, count: int) -> Array:
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


class Expansion(Finder):
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


def _rounding(width: int, dtype: Any = np.float64) -> float:
    """Return a generous bound on the error of a sum of `width` products, as a share of ‖q‖² + ‖x‖²."""
    return float(np.finfo(dtype).eps) * (64 + 4 * width**0.5)


class Brute(Expansion):
    """Dense rows, with their mean as the origin: products of blocks, each pair of rows met once.

    Single precision is twice as fast and nearly always enough; `finer` does the same in double.
    """

    def __init__(self, X: Array, dtype: Any = np.float32) -> None:
        self._X, self._dtype = X, dtype
        self._center = X.mean(axis=0, dtype=np.float64)
        far = max((X.max(axis=0) - self._center).max(), (self._center - X.min(axis=0)).max())
        # Squares must not leave the range of single precision; powers of two change no digit.
        self._unit = 2.0 ** float(np.frexp(far)[1])
        self._points, self._halves = self._prepared(X)
        self._norms = 2.0 * self._halves.astype(np.float64) * self._unit**2
        self._rounding = _rounding(X.shape[1], dtype)
        self._lost = X.shape[1] * float(np.finfo(dtype).tiny) * self._unit**2

    @cached_property
    def finer(self) -> Finder | None:
        """The same in double precision."""
        return None if self._dtype == np.float64 else Brute(self._X, np.float64)

    def _prepared(self, Q: Array) -> tuple[Array, Array]:
        """Return rows with another origin and unit, and half their squared lengths."""
        points, halves = np.empty(Q.shape, self._dtype), np.empty(Q.shape[0], self._dtype)
        for part in split(Q.shape[0], ROWS):
            points[part] = (Q[part] - self._center) / self._unit
            halves[part] = np.einsum("ij,ij->i", points[part], points[part], dtype=np.float64) / 2
        return points, halves

    def candidates(self, Q: Array, count: int) -> Array:
        """Return the numbers of the `count` nearest rows."""
        if Q is not self._X:
            return super().candidates(Q, count)
        lists, tiles = self._lists(Q.shape[0], count), list(split(Q.shape[0], TILE))

        def meet(pair: tuple[int, int]) -> None:
            own, other = (tiles[number] for number in pair)
            mirrored = other if own != other else slice(0, 0)
            products = self._points[own] @ self._points[other].T
            ends = self._halves[own], self._halves[other], own.start, other.start
            _kernels.keep_nearest(products, *ends, *(l[own] for l in lists), *(l[mirrored] for l in lists))

        for turn in range(len(tiles)):  # in each turn no block of rows is met twice
            places = ((i, (turn - i) % len(tiles)) for i in range(len(tiles)))
            map_blocks(meet, [(i, j) for i, j in places if i <= j])
        return lists[1]

    def _block(self, Q: Array, count: int) -> Array:
        points, halves = self._prepared(Q)
        lists = self._lists(Q.shape[0], count)
        for part in split(len(self._X), TILE):
            ends = halves, self._halves[part], 0, part.start
            products = points @ self._points[part].T
            _kernels.keep_nearest(products, *ends, *lists, *(l[:0] for l in lists))
        return lists[1]

    def _lists(self, n: int, count: int) -> tuple[Array, Array]:
        return np.full((n, count), np.inf, dtype=self._dtype), np.zeros((n, count), dtype=np.int64)

    def errors(self, Q: Array, squared: Array) -> Array:
        """Return the largest error of distances of this size, with what is too small for the precision."""
        return super().errors(Q, squared) + self._lost

    def _squares(self, Q: Array) -> Array:
        centred = Q - self._center
        return np.einsum("ij,ij->i", centred, centred)

    def _closeness(self, Q: Array) -> Array:
        points, _ = self._prepared(Q)
        return self._norms - 2 * self._unit**2 * (points @ self._points.T)


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
        self._rows = max(1, min(ROWS, BLOCK_CELLS // X.shape[0]))

    def _parts(self, Q: sparse.csr_array) -> tuple[sparse.csr_array, Array]:
        Q = Q.astype(np.float64)
        if not self._full.size:
            return Q, np.empty((Q.shape[0], 0))
        return Q[:, self._rest], Q[:, self._full].toarray() - self._center

    def _block(self, Q: sparse.csr_array, count: int) -> Array:
        thin, thick = self._parts(Q)
        halves = self._norms[None] / 2
        if self._full.size:
            halves = halves - thick @ self._thick.T
        lists = np.full((Q.shape[0], count), np.inf), np.zeros((Q.shape[0], count), dtype=np.int64)
        _kernels.nearest_sparse(*_csr_parts(thin), *_csr_parts(self._transpose), halves, *lists)
        return lists[1]

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


def _csr_parts(X: sparse.csr_array) -> tuple[Array, Array, Array]:
    """Return indptr, indices and values, with numbers of one kind however large X is."""
    return X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int64, copy=False), X.data
