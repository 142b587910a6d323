"""A similarity matrix of any size and form, shrunk to a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from symclust._threads import split
from symclust.exceptions import InputError

__all__ = ["binned_similarity"]

# Columns multiplied at once for an operator: 32 n-vectors are the most that is ever held beside A.
COLUMNS = 32


def binned_similarity(A: Any, order: NDArray[np.intp], max_size: int) -> NDArray[np.floating]:
    """Mean similarity in each tile of a grid over A[order][:, order], at most `max_size` tiles a side.

    With S (n × bins) marking the bin of each sample, the sums are Sᵀ A S: one sparse product for a stored
    matrix, products with a few columns at a time for anything else that has ``@``. No n × n array is made.
    """
    n = A.shape[0]
    if A.shape != (n, n) or len(order) != n:
        raise InputError(
            f"The similarity has shape {A.shape} and there are {len(order)} labels; expected n × n and n."
        )
    if max_size < 1:
        raise InputError(f"max_size={max_size}; expected at least one tile.")
    bins = min(n, max_size)
    bin_of = np.empty(n, dtype=np.intp)
    bin_of[order] = np.arange(n) * bins // n
    S = csr_array((np.ones(n), bin_of, np.arange(n + 1)), shape=(n, bins))
    counts = np.bincount(bin_of, minlength=bins)
    return _block_sums(A, S) / np.outer(counts, counts)


def _block_sums(A: Any, S: csr_array) -> NDArray[np.floating]:
    stored = isinstance(A, np.ndarray) or issparse(A)
    if stored:
        return csr_array(S.T @ (A @ S)).toarray()
    columns = split(S.shape[1], COLUMNS)
    return np.hstack([S.T @ np.asarray(A @ S[:, block].toarray()) for block in columns])
