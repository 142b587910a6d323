"""Lengths of rows, and rows of length 1."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from symclust._threads import split
from symclust._types import Array, Features

ROWS = 1024  # measured at a time


def inverse_norms(X: Features) -> Array:
    """Return 1/‖x_i‖ in float64; 0 for a row that is zero or shorter than any normal number."""
    norms = np.concatenate([_norms(X[rows]) for rows in split(X.shape[0], ROWS)])
    return _inverse(norms, X.dtype)


def _norms(X: Features) -> Array:
    # Divided by the largest entry first: the square of 1e200 would overflow, that of 1e-200 vanish.
    largest = abs(X).max(axis=1)
    largest = (largest.toarray() if sparse.issparse(largest) else largest).astype(np.float64)
    shrunk = _rows_times(X, _inverse(largest, X.dtype))
    squares = shrunk.multiply(shrunk) if sparse.issparse(shrunk) else shrunk * shrunk
    return largest * np.sqrt(squares.sum(axis=1))


def _inverse(lengths: Array, dtype: np.dtype) -> Array:
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths >= np.finfo(dtype).tiny)


def unit_rows(X: Features) -> Features:
    """Return x_i / ‖x_i‖ in the precision of X; zero rows stay zero."""
    return _rows_times(X, inverse_norms(X)).astype(X.dtype, copy=False)


def _rows_times(X: Features, factors: Array) -> Features:
    if not sparse.issparse(X):
        return X * factors[:, None]
    values = X.data * np.repeat(factors, np.diff(X.indptr))
    # Indices are copied: the result outlives X, which its owner may change.
    return sparse.csr_array((values, X.indices.copy(), X.indptr.copy()), shape=X.shape)
