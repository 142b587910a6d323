"""From labels to a start: sums of A over pairs of clusters, merging by explained energy, the columns of H."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from symclust._threads import single_threaded_blas, split
from symclust._types import Array
from symclust.operators import Operator

OVERSIZE = 2  # columns of the first descent of "merge", in multiples of k
# Entries outside a sample's own cluster, relative to the mean inside: every solver can then move them.
FLOOR = 1e-2
MERGE_PATH = np.dtype([("n_clusters", "i8"), ("gain", "f8"), ("first_size", "i8"), ("second_size", "i8")])


def merged_start(
    operator: Operator, labels: Array, columns: int, k: int, as_sparse: bool = False
) -> tuple[Any, np.recarray]:
    """The start that the labels describe once they are merged to k clusters, and the merges."""
    with single_threaded_blas():
        B, sizes = contract(operator, labels, columns)
    merged, path = merge_greedily(B, sizes, k)
    return constant_columns(B, sizes, merged, labels, k, as_sparse).astype(operator.dtype), path


def start_of_labels(operator: Operator, labels: Array, k: int, as_sparse: bool = False) -> Any:
    """The start that labels describe: each cluster a constant column, and a small floor unless sparse.

    Samples with the label −1 are in no cluster, and have rows of zeros.
    """
    placed = labels >= 0
    with single_threaded_blas():
        B, sizes = contract(operator, np.where(placed, labels, 0), k)
    H = constant_columns(B, sizes, [[l] for l in range(k)], np.where(placed, labels, 0), k, as_sparse)
    H = H.astype(operator.dtype)
    if as_sparse:
        H.data[~placed] = 0
        H.eliminate_zeros()
    else:
        H[~placed] = 0
    return H


def contract(operator: Any, labels: Array, columns: int) -> tuple[Array, Array]:
    """B = ZᵀAZ for the indicator Z of the labels, and the sizes.

    A sparse A costs its nonzeros, on disk one pass over them; any other one products with a few columns of Z
    at a time.
    """
    sizes = np.bincount(labels, minlength=columns)
    B = np.zeros((columns, columns))
    if operator.is_sparse or operator.is_streamed:
        for entries in _stored_entries(operator):
            _add_entries(*entries, labels.astype(np.int64, copy=False), B.reshape(-1))
        return (B + B.T) / 2, sizes
    width = max(columns // OVERSIZE, 1)
    for first in range(0, columns, width):
        block = np.arange(first, min(first + width, columns))
        Z = (labels[:, None] == block).astype(operator.dtype)
        product = operator @ Z
        for l in range(columns):
            B[l, block] = product[labels == l].sum(axis=0, dtype=np.float64)
    return (B + B.T) / 2, sizes


def _stored_entries(A: Any) -> Iterable[tuple[slice, Array, Array, Array]]:
    """Blocks of rows with the three arrays of their entries; in memory all rows are one."""
    return A.blocks() if A.is_streamed else [(slice(0, A.n), A.indptr, A.indices, A.values)]


def _add_entries(
    rows: slice, indptr: Array, indices: Array, values: Array, labels: Array, sums: Array
) -> None:
    """Add the entries of some rows to the sums of their pairs of labels.

    One entry after the other, so that the sums have the same bits however the rows are cut; for as many
    entries at a time as there are sums.
    """
    columns, n = int(np.sqrt(sums.size)), rows.stop - rows.start
    at_once = n * max(sums.size, 1 << 20) // max(values.size, 1)
    own = labels[rows] * columns
    for part in split(n, max(at_once, 1)):
        entries = slice(indptr[part.start], indptr[part.stop])
        pairs = np.repeat(own[part], np.diff(indptr[part.start : part.stop + 1]))
        pairs += labels[indices[entries]]
        np.add.at(sums, pairs, values[entries])


def merge_gains(B: Array, sizes: Array) -> Array:
    """The gain in explained energy of merging every pair.

    (B_ii + B_jj + 2B_ij)²/(m_i + m_j)² − B_ii²/m_i² − B_jj²/m_j², with nothing explained by a cluster of
    negative sum.
    """
    own = np.diag(B)
    energy = np.maximum(own / np.maximum(sizes, 1), 0) ** 2
    together = (own[:, None] + own + 2 * B) / np.maximum(sizes[:, None] + sizes, 1)
    gains = np.maximum(together, 0) ** 2 - energy[:, None] - energy
    np.fill_diagonal(gains, -np.inf)
    return gains


def merge_greedily(B: Array, sizes: Array, k: int) -> tuple[list[list[int]], np.recarray]:
    """Merge the pair with the largest gain until k are left; return the groups and the path to them.

    A merge changes one row and one column of the gains, and removes another of each; the best of each row is
    remembered. A row whose best pair is gone keeps its gain as a bound, and is searched through only when no
    other row has more; most never are.
    """
    gains = _Gains(B.copy(), sizes.astype(np.int64))
    groups = {l: [l] for l in range(len(sizes))}
    path = []
    while len(groups) > k:
        i, j = gains.best_pair()
        path.append((len(groups) - 1, gains.table[i, j], gains.sizes[i], gains.sizes[j]))
        gains.merge(i, j)
        groups[i] += groups.pop(j)
    return list(groups.values()), np.array(path, dtype=MERGE_PATH).view(np.recarray)


class _Gains:
    """The gains of all pairs of clusters that are left; those of the others are −∞."""

    def __init__(self, B: Array, sizes: Array) -> None:
        self.B, self.sizes = B, sizes
        self.left = np.ones(len(B), dtype=bool)
        self.table = merge_gains(B, sizes)
        self.places = self.table.argmax(axis=1)
        self.largest = self.table[np.arange(len(B)), self.places]
        self.is_bound = np.zeros(len(B), dtype=bool)  # whether `largest` of a row may be too large

    def best_pair(self) -> tuple[int, int]:
        """The first pair with the largest gain, in the order of rows and in them of columns."""
        while self.is_bound[row := int(self.largest.argmax())]:
            self._search(row)
        i, j = sorted((row, int(self.places[row])))
        return i, j

    def merge(self, i: int, j: int) -> None:
        """Join cluster j to cluster i."""
        self.B[i] += self.B[j]
        self.B[:, i] += self.B[:, j]
        self.sizes[i] += self.sizes[j]
        self.left[j] = False
        self.table[j] = self.table[:, j] = self.largest[j] = -np.inf
        self._renew(i)
        # The first largest of a row is as it was, or now at i, or has to be looked for.
        column = self.table[:, i]
        first_of_equals = (column == self.largest) & (self.places > i) & ~self.is_bound
        at_i = (column > self.largest) | first_of_equals
        self.places[at_i], self.largest[at_i], self.is_bound[at_i] = i, column[at_i], False
        self.is_bound |= ~at_i & ((self.places == i) | (self.places == j))
        self._search(i)

    def _search(self, row: int) -> None:
        """Look for the first largest gain of a row."""
        self.places[row] = self.table[row].argmax()
        self.largest[row], self.is_bound[row] = self.table[row, self.places[row]], False

    def _renew(self, i: int) -> None:
        """Compute row and column i again, each as `merge_gains` rounds it."""
        own, others = np.diag(self.B), self.left.copy()
        others[i] = False
        energy = np.maximum(own / np.maximum(self.sizes, 1), 0) ** 2
        together = (own[i] + own + 2 * self.B[i]) / np.maximum(self.sizes[i] + self.sizes, 1)
        explained = np.maximum(together, 0) ** 2
        self.table[i, others] = (explained - energy[i] - energy)[others]
        self.table[others, i] = (explained - energy - energy[i])[others]


def constant_columns(
    B: Array,
    sizes: Array,
    groups: Sequence[Sequence[int]],
    labels: Array,
    k: int,
    as_sparse: bool = False,
) -> Any:
    """H with column j at √(B_jj)/m_j on its cluster, plus a small floor everywhere unless sparse."""
    target = np.empty(len(sizes), dtype=np.int64)
    heights = np.zeros(k)
    for j, group in enumerate(groups):
        target[group] = j
        energy, size = B[np.ix_(group, group)].sum(), sizes[group].sum()
        heights[j] = np.sqrt(max(energy, 0.0)) / max(size, 1)
    labels = target[labels]
    n = len(labels)
    if as_sparse:
        return sparse.csr_array((heights[labels], labels, np.arange(n + 1)), shape=(n, k))
    H = np.full((n, k), FLOOR * heights.mean())
    H[np.arange(n), labels] += heights[labels]
    return H
