"""Arrays as products and kernels take them, and dense products whose bits do not depend on threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from symclust._threads import map_blocks, single_threaded_blas, split
from symclust._types import Array, Matrix
from symclust.exceptions import InputError
from symclust.validation import FILL, PAIRS, float_dtype, refuse_masked

# Rows of one BLAS call. From 64 to 512 measure alike; small ones leave work for several threads inside the
# blocks of a few hundred rows of Gauss-Seidel sweeps.
ROWS = 128
# Multiplications below which handing blocks to other threads costs more than they save.
WORTH_THREADS = 1 << 22
# Partial sums of a transposed product: each is a d x w array, so their number is bounded.
PARTS = 16
LINE, IN_CACHE = 64, 1 << 20  # bytes of a line of the cache, and of what stays in it


def read_dense(X: Any) -> Array:
    """X as a row-major floating 2-D array; no copy when it already is one."""
    refuse_masked(X, gaps=f"{FILL} In a similarity: {PAIRS}")
    X = np.asarray(X)
    if X.ndim != 2:
        raise InputError(f"Expected a matrix with 2 dimensions, got an array of shape {X.shape}.")
    # Row-major: kernels and row blocks read whole rows. A column-major input is copied once.
    return np.ascontiguousarray(X, dtype=float_dtype(X.dtype))


def as_index(index: Any, n: int) -> slice | NDArray[np.intp]:
    """`index` as a slice of step 1 or as an array of integers in ``range(n)``."""
    if isinstance(index, slice):
        start, stop, step = index.indices(n)
        return slice(start, max(start, stop)) if step == 1 else np.arange(start, stop, step)
    index = np.atleast_1d(np.asarray(index))
    if index.ndim == 1 and index.dtype == bool and index.size == n:
        return np.flatnonzero(index)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
        raise InputError(
            f"Rows are chosen by a slice, an array of integers or {n} bools; "
            f"got an array of shape {index.shape} and dtype {index.dtype}."
        )
    if index.size and (index.min() < -n or index.max() >= n):
        raise InputError(f"Rows are numbered 0 to {n - 1}; got {index.min()} to {index.max()}.")
    return np.where(index < 0, index + n, index).astype(np.intp)


# Two copies of a node would leave open whether the entries between them are on the diagonal.
def as_subset(index: Any, n: int) -> slice | NDArray[np.intp]:
    """`index` as `as_index` gives it; a row that is chosen twice is refused."""
    chosen_by_mask = np.asarray(index).dtype == bool
    index = as_index(index, n)
    if not (chosen_by_mask or isinstance(index, slice)) and np.unique(index).size < index.size:
        raise InputError(
            "A submatrix takes each row at most once; some were chosen twice. Use np.unique(index)."
        )
    return index


def as_pairs(rows: Any, columns: Any, n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row and column numbers as two arrays of integers of one length."""
    i, j = (np.arange(n)[as_index(index, n)] for index in (rows, columns))
    if i.size != j.size:
        raise InputError(f"Entries have a row and a column each; got {i.size} rows and {j.size} columns.")
    return i, j


def as_vector(values: Any, n: int, dtype: Any, name: str) -> Array:
    """`values` as n numbers of the given dtype; another number of them is refused."""
    vector = np.ascontiguousarray(values, dtype=dtype)
    if vector.shape != (n,):
        raise InputError(f"`{name}` must hold one number for each of {n}, got shape {vector.shape}.")
    return vector


# In the products below each block of rows is one BLAS call, with BLAS held to one thread; block borders
# depend on the shapes alone. They use the thread pool and must therefore not be called from inside it.


def dense_product(A: Array, H: Array) -> Array:
    """A @ H, in blocks of rows of A."""
    out = np.empty((A.shape[0], H.shape[1]), dtype=H.dtype)

    def multiply(rows: slice) -> None:
        np.matmul(A[rows], H, out=out[rows])

    with single_threaded_blas():
        if A.size * H.shape[1] < WORTH_THREADS:
            for rows in split(A.shape[0], ROWS):
                multiply(rows)
        else:
            map_blocks(multiply, split(A.shape[0], ROWS))
    return out


def transposed_product(X: Array, H: Array, chosen: Array | None = None) -> Array:
    """X.T @ H as partial sums over blocks of rows, added in order; of the `chosen` rows of X alone."""
    n = H.shape[0]
    size = max(4 * ROWS, -(-n // PARTS))

    def multiply(rows: slice) -> Array:
        return X[rows if chosen is None else chosen[rows]].T @ H[rows]

    with single_threaded_blas():
        parts = map_blocks(multiply, split(n, size))
    out = np.zeros((X.shape[1], H.shape[1]), dtype=H.dtype)
    for part in parts:
        out += part
    return out


def stacked(parts: Sequence[Matrix]) -> Matrix:
    """Arrays, or sparse arrays, below each other; all have the form of the first."""
    if sp.issparse(parts[0]):
        return sp.csr_array(sp.vstack(parts, format="csr"))
    return np.concatenate(parts)


def bordered(A: Matrix, B: Matrix) -> Matrix:
    """A symmetric A with m further rows B, of n + m columns, and as many columns: an array like A."""
    n, m = A.shape[0], B.shape[0]
    if sp.issparse(A):
        B = sp.csr_array(B, dtype=A.dtype)
        B.sum_duplicates()
        above = sp.hstack([A, B[:, :n].T.tocsr()], format="csr")
        return sp.csr_array(sp.vstack([above, B], format="csr"))
    out = np.empty((n + m, n + m), dtype=A.dtype)
    out[:n, :n] = A
    out[n:] = B.toarray() if sp.issparse(B) else B
    out[:n, n:] = out[n:, :n].T
    return out


def on_lines(parts: Sequence[Array]) -> Array:
    """Arrays side by side, in memory that begins with a line of the cache if that saves time."""
    if len(parts) == 1 and not _crosses_lines(parts[0]):
        return parts[0]
    shape, dtype = (len(parts[0]), sum(part.shape[1] for part in parts)), parts[0].dtype
    size = shape[0] * shape[1] * dtype.itemsize
    room = np.empty(size + LINE, dtype=np.uint8)
    first = -room.ctypes.data % LINE
    return np.concatenate(parts, axis=1, out=room[first : first + size].view(dtype).reshape(shape))


def _crosses_lines(H: Array) -> bool:
    """Whether rows would take fewer lines of the cache if the first began with one.

    NumPy's arrays begin 16 bytes after a line: a row of 64 bytes then takes two, and reading rows of H
    for a graph without order takes twice as long. Rows that are no multiple of half a line cross lines
    wherever they lie.
    """
    return bool(H.shape[1] * H.itemsize % (LINE // 2) == 0 and H.nbytes > IN_CACHE and H.ctypes.data % LINE)
