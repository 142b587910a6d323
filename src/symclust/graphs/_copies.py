"""Rows that are repeated: found by their keys, and joined to the neighbours of the first of their kind.

Copies are at distance zero: in a graph of nearest neighbours they would use up all neighbours of each other,
and every repeated row would be a component by itself. So neighbours are sought among the distinct rows; a
copy has the neighbours of the first row that is equal to it, and is joined to that besides. The edges between
two rows that occur m and m' times weigh √(mm') times as much as one between single rows, all together. In a
graph of all copies it would be mm', and the most frequent rows outweigh the rest; in one of distinct rows, 1.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from symclust import _kernels
from symclust._threads import cached_property, map_blocks
from symclust._types import Array, Features
from symclust.graphs._lengths import unit_rows
from symclust.graphs._neighbors import NeighborSearch


class SampleSearch:
    """Nearest neighbours of samples among the distinct rows of X, none of which is a copy of another.

    `noise` and `method` are those of `NeighborSearch`. `first` has the number of the first row equal to each
    row; None if all rows are distinct.
    """

    def __init__(self, X: Features, noise: float = 0.0, method: str = "exact") -> None:
        self.X, self._noise, self._method = X, noise, method
        first = first_of_equal(X)
        self._distinct = np.unique(first)
        self.first = first if self._distinct.size < first.size else None

    def __getstate__(self) -> dict[str, Any]:
        # The search holds the distinct rows once more.
        return {name: value for name, value in self.__dict__.items() if name != "_search"}

    @cached_property
    def _search(self) -> NeighborSearch:
        rows = self.X if self.first is None else self.X[self._distinct]
        return NeighborSearch(rows, self._noise, self._method)

    def nearest(
        self, k: int, X_new: Features | None = None, rows: Array | None = None
    ) -> tuple[Array, Array]:
        """Return distances and numbers of the k nearest distinct rows, as `NeighborSearch.nearest` does.

        Neither a row of X nor one of its copies is its own neighbour.
        """
        if self.first is None:
            return self._search.nearest(k, X_new, rows)
        if X_new is not None:
            distances, neighbors = self._search.nearest(k, X_new)
            return distances, self._distinct[neighbors]
        numbers, place = np.unique(self.first if rows is None else self.first[rows], return_inverse=True)
        distances, neighbors = self._search.nearest(k, rows=np.searchsorted(self._distinct, numbers))
        return distances[place], self._distinct[neighbors[place]]

    def tied(self, E: sparse.csr_array) -> sparse.csr_array:
        """Return E, edges of the last rows of X to all, with rows counted and copies joined to the first.

        E is symmetric among these rows, and so is the answer, to the bit.
        """
        if self.first is None:
            return E
        n, kind = self.X.shape[0], E.indices.dtype
        old, counts = n - E.shape[0], np.bincount(self.first)[self.first]
        own, other = np.repeat(counts[old:], np.diff(E.indptr)), counts[E.indices]
        E.data *= np.sqrt(own * other) / (own + other - 1)  # there are m + m' − 1 edges between two rows
        copies = old + np.flatnonzero(self.first[old:] < np.arange(old, n))
        ends = np.append(copies, self.first[copies]), np.append(self.first[copies], copies)
        ends = tuple(numbers[ends[0] >= old].astype(kind) for numbers in (ends[0] - old, ends[1]))
        ties = sparse.csr_array((np.ones(ends[0].size, E.dtype), ends), shape=E.shape)
        return sparse.csr_array(E + ties)


def directions(X: Features) -> Features:
    """Return the rows scaled to length 1, those of parallel rows equal to the bit.

    Lengths are rounded, but a quotient by the largest entry is the same for all multiples of a row of whole
    numbers, such as counts of words.
    """
    largest = abs(X).max(axis=1)
    largest = largest.toarray() if sparse.issparse(largest) else largest
    largest[largest == 0] = 1
    if sparse.issparse(X):
        quotients = X.data / np.repeat(largest, np.diff(X.indptr))
        first = first_of_equal(sparse.csr_array((quotients, X.indices, X.indptr), shape=X.shape))
    else:
        first = first_of_equal(X / largest[:, None])
    U = unit_rows(X)
    return U if (first == np.arange(first.size)).all() else U[first]


# Keys of rows -----------------------------------------------------------------------------------------------

HASHED = 2**15  # numbers that are hashed at a time: they stay in the cache
MIXER, SPREAD = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x9E3779B97F4A7C15)  # odd; those of SplitMix64
HALF = np.uint64(32)


def first_of_equal(X: Features) -> Array:
    """Return for each row the number of the first one that is equal to it."""
    order, is_new = grouped(row_keys(X))
    first = np.empty(len(order), dtype=np.intp)
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    return first


def grouped(keys: Array) -> tuple[Array, Array]:
    """Return the rows in the order of their keys, and which of them are the first with theirs."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    ordered = keys[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, is_new


def row_keys(X: Features) -> Array:
    """Return 16 bytes for each row of X that are the same for equal rows, as an array of shape (n, 2).

    They are two sums Σ_j c_j m(x_j) modulo 2⁶⁴, m a bijection of bits that keeps zero, the c_j odd and as
    good as random. Rows that differ in one entry never have the same sums; others do by chance, once in about
    2¹²⁸. Zeros add nothing: dense and sparse rows of the same numbers have the same sums, in every process.
    """
    if sparse.issparse(X):
        return _keys_of_sparse(sparse.csr_array(X))
    X, found = np.ascontiguousarray(X), np.empty((X.shape[0], 2), dtype=np.uint64)
    _kernels.row_keys(X, np.stack(_coefficients(np.arange(X.shape[1]))), found)
    return found


def _keys_of_sparse(X: sparse.csr_array) -> Array:
    if not X.has_canonical_format:  # duplicates are to be added, not to be hashed each by itself
        X = X.copy()
        X.sum_duplicates()
    n, d = X.shape
    found = np.zeros((n, 2), dtype=np.uint64)
    table = _coefficients(np.arange(d)) if d <= X.nnz else None

    def add_up(rows: slice) -> None:
        ends = X.indptr[rows.start : rows.stop + 1] - X.indptr[rows.start]
        entries = slice(X.indptr[rows.start], X.indptr[rows.stop])
        mixed, columns = _mixed(X.data[entries]), X.indices[entries]
        coefficients = _coefficients(columns) if table is None else (c[columns] for c in table)
        total = np.zeros(len(mixed) + 1, dtype=np.uint64)
        for column, c in enumerate(coefficients):
            np.cumsum(mixed * c, out=total[1:])
            found[rows, column] = np.diff(total[ends])  # exact modulo 2⁶⁴

    borders = np.unique(np.append(np.searchsorted(X.indptr, np.arange(0, X.nnz, HASHED)), n))
    map_blocks(add_up, [slice(int(a), int(b)) for a, b in pairwise(borders)])
    return found


def _mixed(x: Array) -> Array:
    """Return bit patterns whose low bits depend on the high ones, which are all that whole numbers have."""
    bits = (x + x.dtype.type(0)).view(f"u{x.dtype.itemsize}").astype(np.uint64)  # -0.0 is 0.0
    bits ^= bits >> HALF
    bits *= MIXER
    bits ^= bits >> HALF
    return bits


def _coefficients(columns: Array) -> tuple[Array, Array]:
    """Return two odd numbers for each column."""
    numbers = columns.astype(np.uint64) * np.uint64(2)
    return tuple(_scattered(numbers + np.uint64(start)) | np.uint64(1) for start in (1, 2))  # type: ignore[return-value]


def _scattered(x: Array) -> Array:
    """Return numbers as good as random, SplitMix64's for the counters x."""
    x = x * SPREAD
    x = (x ^ (x >> np.uint64(30))) * MIXER
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
