"""A held as a sparse matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from symclust import _kernels
from symclust._threads import cached_property
from symclust._types import Array
from symclust.exceptions import InputError
from symclust.operators._arrays import as_pairs, as_subset, as_vector
from symclust.operators._base import Operator, sum_of_squares
from symclust.validation import check_stored, float_dtype, share_of_zeros

__all__ = ["Sparse"]

FEW_NONZEROS = 1 << 17  # a whole product takes less time than SciPy needs to pick some rows


class Sparse(Operator):
    """A symmetric matrix held as compressed rows (CSR), sorted and without duplicates.

    Parameters
    ----------
    A : SciPy sparse array or matrix of shape (n, n), any format
        Kept without a copy if it already is canonical CSR of float32 or float64. Explicit zeros stay.

    Attributes
    ----------
    indptr, indices, values : ndarray
        The three arrays of CSR, as the kernels take them: `indptr` and `indices` both int32 or both int64.
    csr : scipy.sparse.csr_array
        The same arrays as a SciPy object.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> from symclust.operators import Sparse
    >>> path = scipy.sparse.diags_array([[1.0, 1.0], [1.0, 1.0]], offsets=[1, -1])
    >>> A = Sparse(path)
    >>> A.degrees().tolist(), A.asymmetry()
    ([1.0, 2.0, 1.0], 0.0)
    """

    is_sparse: ClassVar[bool] = True
    _rows_are_thread_safe = True

    def __init__(self, A: Any) -> None:
        csr = read_csr(A)
        if csr.shape[0] != csr.shape[1]:
            raise InputError(f"A similarity matrix is square; got a sparse matrix of shape {csr.shape}.")
        super().__init__(csr.shape[0], csr.dtype)
        self.csr = csr
        self.indptr, self.indices, self.values = csr.indptr, csr.indices, csr.data

    @property
    def matrix(self) -> sp.csr_array:
        """A as a csr_array."""
        return self.csr

    def _saved_state(self, data: bool) -> dict[str, Any]:
        return {"csr": self.csr, "names": self.names}

    def _restore(self) -> None:
        Sparse.__init__(self, self.csr)  # checks: the kernels rely on parts that fit together

    def _product(self, H: Array) -> Array:
        out = np.empty_like(H)
        _kernels.spmm(self.indptr, self.indices, self.values, H, out)
        return out

    def sums_in_double(self) -> Array:
        """The row sums accumulated in float64."""
        return self.product_in_double(np.ones(self.n))

    def product_in_double(self, H: Array) -> Array:
        """A @ H for an H of float64 in double precision, whatever the precision of A."""
        return self.csr @ H

    def _rows(self, index: Any) -> Array:
        return self.csr[index].toarray()

    def _rows_product(self, rows: slice, H: Array) -> Array:
        start, stop = self.indptr[rows.start], self.indptr[rows.stop]
        out = np.empty((rows.stop - rows.start, H.shape[1]), dtype=self.dtype)
        indptr = self.indptr[rows.start : rows.stop + 1] - start
        _kernels.spmm(indptr, self.indices[start:stop], self.values[start:stop], H, out)
        return out

    def row(self, i: int) -> Array:
        own = slice(self.indptr[i], self.indptr[i + 1])
        row = np.zeros(self.n, dtype=self.dtype)
        row[self.indices[own]] = self.values[own]
        return row

    def combine_rows(self, ids: Array, weights: Array) -> Array:
        """The sum of the rows `ids`, each times its weight; of a large A only these are read."""
        if self.values.size < FEW_NONZEROS:
            return super().combine_rows(ids, weights)
        return self.csr[ids].T @ np.asarray(weights, dtype=self.dtype)

    def block(self, rows: slice) -> Array:
        return self.csr[rows, rows].toarray()

    def entries(self, rows: Any, columns: Any) -> Array:
        rows, columns = as_pairs(rows, columns, self.n)
        return np.asarray(self.csr[rows, columns])

    @cached_property
    def _diagonal(self) -> Array:
        return self.csr.diagonal()

    def diagonal(self) -> Array:
        """The n diagonal entries; found once: every sweep over the rows needs them."""
        return self._diagonal.copy()

    def _sum_of_squares(self) -> float:
        return sum_of_squares(self.values)

    def largest(self) -> float:
        """The largest entry; entries that are not stored count as zero."""
        some_are_not_stored = self.values.size < self.n * self.n
        return float(self.values.max(initial=0.0) if some_are_not_stored else self.values.max())

    def share_of_zeros(self) -> float:
        """The share of entries that are zero."""
        return share_of_zeros(self.csr)

    def is_nonnegative(self) -> bool:
        return not self.values.size or bool(self.values.min() >= 0)

    def negative_entry(self) -> tuple[int, int] | None:
        if self.is_nonnegative():
            return None
        place = int(self.values.argmin())
        return int(np.searchsorted(self.indptr, place, side="right")) - 1, int(self.indices[place])

    def asymmetry(self) -> float:
        return float(_kernels.asymmetry(self.indptr, self.indices, self.values))

    def asymmetric_entry(self) -> tuple[int, int]:
        gaps = abs(self.csr - self.csr.T).tocoo()
        worst = int(gaps.data.argmax())
        return int(gaps.row[worst]), int(gaps.col[worst])

    def submatrix(self, index: Any) -> Sparse:
        index = as_subset(index, self.n)
        return Sparse(self.csr[index][:, index])

    def scaled(self, d: Any) -> Sparse:
        """The operator diag(d) A diag(d); the index arrays are shared."""
        d = as_vector(d, self.n, self.dtype, "d")
        values = d[self.indices]
        values *= np.repeat(d, np.diff(self.indptr))  # first, so that the result is symmetric to the bit
        values *= self.values
        return Sparse(sp.csr_array((values, self.indices, self.indptr), shape=self.shape))

    def without(self, mask: Any) -> Sparse:
        kept = sp.csr_array(self.csr - self.csr.multiply(sp.csr_array(mask, dtype=bool)))
        kept.eliminate_zeros()
        return Sparse(kept.astype(self.dtype, copy=False))


def read_csr(X: Any) -> sp.csr_array:
    """Any SciPy sparse array as canonical CSR (sorted, no duplicates) without changing the input.

    Nothing is copied when X already is canonical CSR of floating dtype.
    """
    if X.ndim != 2:
        raise InputError(f"Expected a matrix with 2 dimensions, got a sparse array of shape {X.shape}.")
    # Converted before duplicates are summed: a sum of small integers or bools would overflow.
    floats = check_stored(X, "matrix").astype(float_dtype(X.dtype), copy=False)
    csr = sp.csr_array(floats)
    if not csr.has_canonical_format:
        csr = csr.copy() if floats.format == "csr" else csr  # other formats were copied on the way
        csr.sum_duplicates()
    return _with_one_index_type(csr)


def _with_one_index_type(csr: sp.csr_array) -> sp.csr_array:
    kind = np.int32 if csr.indptr.dtype == csr.indices.dtype == np.int32 else np.int64
    csr.indptr = np.ascontiguousarray(csr.indptr, dtype=kind)
    csr.indices = np.ascontiguousarray(csr.indices, dtype=kind)
    csr.data = np.ascontiguousarray(csr.data)
    return csr
