"""Some samples of X in the layout of the kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from symclust._kernels import (
    rank_two_nmf,
    spmm,
    subset_counts,
    subset_fill,
    subset_stream,
    two_singular_vectors,
)
from symclust._types import Array
from symclust.operators import RankTwoOnDevice

Parts = tuple[Array, Array, Array]

WORTH_THREADS = 1 << 17  # nonzeros from which passes over a node are worth all threads
ONE_SIGN = 1e-4  # of a vector's length: below it, entries of the other sign are rounding
WORTH_A_DEVICE = 1 << 20  # nonzeros from which a part is factored on a device
FIRST_PART, GROWTH = 0.5, 1.1  # of a step that is taken once more, and by what the part grows: as compiled
ROUNDING = 8  # times the machine precision: below it, numbers that follow from others are noise
WORTH_STREAMING = 0.2  # share of the entries from which reading all of them in order is faster


@dataclass(frozen=True)
class Sides:
    """Two sides of some samples by the signs of the second singular vector u: max(u, 0) and max(−u, 0).

    Parts without a common feature have a singular vector each, of one sign: an empty side is the first's.

    U Q are the singular vectors times their values, the second before the first. `is_empty` marks sides whose
    entries are rounding.
    """

    Q: Array
    is_empty: Array

    def __call__(self, U: Array) -> Array:
        """Return the sides, n × 2."""
        first, second = (U @ self.Q[:, [1, 0]].astype(U.dtype)).T
        sides = np.stack([np.maximum(second, 0), np.maximum(-second, 0)], axis=1)
        sides[:, self.is_empty] = np.abs(first)[:, None]
        return sides

    def without_empty(self, lengths: Array) -> Sides:
        """Return the same with a side of next to no length replaced."""
        return replace(self, is_empty=lengths <= ONE_SIGN * lengths.max())


@dataclass(frozen=True)
class Samples:
    """Rows of X by rows and by columns, without the features that are zero in all of them.

    A node's samples are taken from its parent's, not from X, so all nodes of one depth together cost no more
    than X does. Features are ordered by falling number of samples that have them: most entries then meet the
    few rows of a factor that are in the cache.

    `members` and `features` are numbers in X; `columns` has the same features as columns of the matrix the
    samples were taken from. `rows` and `transposed` are the CSR parts (indptr, indices, values) of the matrix
    and of its transpose.
    """

    members: Array
    features: Array
    columns: Array
    rows: Parts
    transposed: Parts

    @classmethod
    def of(cls, X: Any, order: Array | None = None) -> Self:
        """Return the samples of a dense or CSR matrix that have a feature at all.

        `order` is that of the features; by default by falling number of samples that have them.
        """
        csr = sp.csr_array(X)
        if not csr.data.all():
            csr = csr.copy()
            csr.eliminate_zeros()
        kind = np.int32 if max(csr.nnz, *csr.shape) < 2**31 else np.int64
        parts = (csr.indptr.astype(kind, copy=False), csr.indices.astype(kind, copy=False), csr.data)
        if order is None:
            order = np.argsort(-np.bincount(csr.indices, minlength=csr.shape[1]), kind="stable")
        return cls._taken(parts, np.flatnonzero(np.diff(csr.indptr)), order)

    def take(self, chosen: Array) -> Self:
        """Return some of the samples, by their numbers here; linear in their nonzeros and features."""
        taken = self._taken(self.rows, chosen, np.arange(len(self.features)), self.transposed)
        return replace(
            taken,
            members=self.members[chosen],
            features=self.features[taken.columns],
        )

    @classmethod
    def _taken(cls, parts: Parts, chosen: Array, order: Array, transposed: Parts | None = None) -> Self:
        """Return chosen rows of a CSR matrix, with the columns that are not empty in the given order."""
        indptr, indices, values = parts
        kind = indptr.dtype
        rows = np.ascontiguousarray(chosen, dtype=kind)
        counts = np.zeros(len(order), dtype=kind)
        subset_counts(indptr, indices, rows, counts)
        columns = order[counts[order] > 0]
        place = np.zeros(len(order), dtype=kind)
        place[columns] = np.arange(len(columns), dtype=kind)
        t_indptr = np.zeros(len(columns) + 1, dtype=kind)
        np.cumsum(counts[columns], out=t_indptr[1:])
        size = int(t_indptr[-1])
        new = (np.empty(len(rows) + 1, kind), np.empty(size, kind), np.empty(size, values.dtype))
        turned = (np.empty(size + 1, kind), np.empty(size + 1, values.dtype))
        if transposed is not None and size >= WORTH_STREAMING * len(values):
            row_place = np.full(len(indptr) - 1, -1, dtype=kind)
            row_place[rows] = np.arange(len(rows), dtype=kind)
            where = columns.astype(kind, copy=False)
            subset_stream(*parts, rows, place, *transposed, where, row_place, *new, *turned)
        else:
            subset_fill(*parts, rows, place, *new, t_indptr[:-1].copy(), *turned)
        return cls(np.asarray(chosen), columns, columns, new, (t_indptr, turned[0][:-1], turned[1][:-1]))

    def scaled(self, weights: Array) -> Self:
        """Return the same samples with each row multiplied by its weight."""
        indptr, indices, values = self.rows
        t_indptr, t_indices, t_values = self.transposed
        weights = weights.astype(values.dtype)
        # Indices of its own: SciPy sorts those of a matrix in place, together with its values.
        return replace(
            self,
            rows=(indptr, indices.copy(), values * np.repeat(weights, np.diff(indptr))),
            transposed=(t_indptr, t_indices, t_values * weights[t_indices]),
        )

    def two_directions(self, V: Array, steps: int) -> tuple[Array, Array]:
        """Return U = X V and UᵀU after steps of orthogonal iteration from V, which leaves orthonormal."""
        U = np.empty((self.shape[0], 2), dtype=self.dtype)
        a, b, c = two_singular_vectors(*self.rows, *self.transposed, V, U, steps, self._threads)
        return U, np.array([[a, b], [b, c]])

    def sum_of_sides(self, U: Array, sides: Sides) -> Array:
        """Return Xᵀ S of the two sides S that are read off U."""
        S = sides(U)
        sides = sides.without_empty(np.linalg.norm(S, axis=0))
        return self.transposed_times(sides(U) if sides.is_empty.any() else S)

    def factor(self, C: Array, tol: float, max_iter: int) -> tuple[Array, Array, int]:
        """Return C and W of min ‖X − WCᵀ‖² over W, C ≥ 0 from a start C, and the number of iterations."""
        W = np.empty((self.shape[0], 2), dtype=self.dtype)
        n_iter, _, _ = rank_two_nmf(*self.rows, *self.transposed, C, W, tol, max_iter, self._threads)
        return C, W, n_iter

    @property
    def _threads(self) -> int:
        return 0 if self.nnz >= WORTH_THREADS else 1  # 0: all

    def total(self) -> Array:
        """Return the sum of the samples."""
        return self.transposed_times(np.ones((self.shape[0], 1), dtype=self.dtype))[:, 0]

    def gram_times(self, v: Array) -> Array:
        """Return Xᵀ X v."""
        return self.transposed_times(self.times(np.ascontiguousarray(v[:, None])))[:, 0]

    def squared_length(self, v: Array) -> float:
        """Return ‖X v‖²."""
        return float(np.sum(self.times(np.ascontiguousarray(v[:, None])).astype(np.float64) ** 2))

    def times(self, V: Array) -> Array:
        """Return X V by the compiled product."""
        out = np.empty((len(self.members), V.shape[1]), dtype=self.dtype)
        spmm(*self.rows, V, out)
        return out

    def transposed_times(self, U: Array) -> Array:
        """Return Xᵀ U by the compiled product."""
        out = np.empty((len(self.features), U.shape[1]), dtype=self.dtype)
        spmm(*self.transposed, U, out)
        return out

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        return len(self.members), len(self.features)

    @property
    def nnz(self) -> int:
        """Nonzero entries."""
        return len(self.rows[2])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the entries."""
        return self.rows[2].dtype

    def csr(self) -> sp.csr_array:
        """Return the matrix as an array of SciPy; nothing is copied."""
        indptr, indices, values = self.rows
        return sp.csr_array((values, indices, indptr), shape=self.shape)


@dataclass(frozen=True)
class DeviceSamples(Samples):
    """The same; parts with many entries are factored on a device.

    Taking parts, starts and scores stay with the host, and so do small parts: what is left of them is done
    before their entries are on the device.
    """

    device: Any = None

    def take(self, chosen: Array) -> Self:
        """Return some of the samples, by their numbers here."""
        return replace(super().take(chosen), device=self.device)

    def factor(self, C: Array, tol: float, max_iter: int) -> tuple[Array, Array, int]:
        """Return C and W of min ‖X − WCᵀ‖² over W, C ≥ 0 from a start C, and the number of iterations."""
        if self.nnz < WORTH_A_DEVICE:
            return super().factor(C, tol, max_iter)
        there = RankTwoOnDevice(self.rows, self.transposed, self.shape, self.device)
        return there.factor(C, tol, max_iter, FIRST_PART, GROWTH, ROUNDING)
