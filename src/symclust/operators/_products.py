"""Dense products whose bits do not depend on the number of threads.

Each block of rows is one BLAS call, with BLAS held to one thread; block borders depend on the shapes alone.
These functions use the thread pool and must therefore not be called from inside it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_blas_funcs

from symclust._threads import map_blocks, single_threaded_blas, split
from symclust._types import Array

__all__ = ["dense_product", "symmetric_product", "transposed_product"]

# Rows of one BLAS call. From 64 to 512 measure alike; small ones leave work for several threads inside the
# blocks of a few hundred rows that Gauss-Seidel sweeps ask for.
ROWS = 128
# Multiplications below which handing blocks to other threads costs more than they save.
WORTH_THREADS = 1 << 22
# Partial sums of a transposed product: each is a d x w array, so their number is bounded.
PARTS = 16


def dense_product(A: Array, H: Array) -> Array:
    """Return A @ H, in blocks of rows of A."""
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


def symmetric_product(A: Array, x: Array) -> Array:
    """Return A @ x for a symmetric row-major A and a vector, reading one triangle: half the time.

    On one thread. Several do better with all of A in blocks of rows, as soon as memory keeps up with them.
    """
    symv = get_blas_funcs("symv", dtype=A.dtype)
    with single_threaded_blas():
        return symv(1.0, A.T, x)


def transposed_product(X: Array, H: Array) -> Array:
    """Return X.T @ H as partial sums over blocks of rows, added in order."""
    n = X.shape[0]
    size = max(4 * ROWS, -(-n // PARTS))
    with single_threaded_blas():
        parts = map_blocks(lambda rows: X[rows].T @ H[rows], split(n, size))
    out = np.zeros((X.shape[1], H.shape[1]), dtype=H.dtype)
    for part in parts:
        out += part
    return out
