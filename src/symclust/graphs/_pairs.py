"""Distances and products of chosen pairs of rows, straight from the rows.

The expansion ‖x‖² + ‖y‖² − 2xᵀy costs less for all pairs at once but loses the digits of near
duplicates; for the few pairs of a neighbour graph differences are affordable.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from symclust._threads import split
from symclust._types import Features

__all__ = ["pair_distances", "pair_products"]

CELLS = 1 << 20  # numbers gathered at a time


def pair_distances(Q: Features, X: Features, neighbors: np.ndarray) -> np.ndarray:
    """Return ‖q_i − x_j‖ in float64 for each row i of Q and each j in ``neighbors[i]``."""
    return _in_blocks(_distances, Q, X, neighbors)


def pair_products(Q: Features, X: Features, neighbors: np.ndarray) -> np.ndarray:
    """Return q_iᵀx_j in float64 for each row i of Q and each j in ``neighbors[i]``."""
    return _in_blocks(_products, Q, X, neighbors)


Measure = Callable[[Features, Features, np.ndarray], np.ndarray]


def _in_blocks(measure: Measure, Q: Features, X: Features, neighbors: np.ndarray) -> np.ndarray:
    width = X.nnz // X.shape[0] + 1 if sparse.issparse(X) else X.shape[1]
    rows = max(1, CELLS // max(1, width * neighbors.shape[1]))
    out = np.empty(neighbors.shape)
    for block in split(neighbors.shape[0], rows):
        out[block] = measure(Q[block], X, neighbors[block])
    return out


def _distances(Q: Features, X: Features, neighbors: np.ndarray) -> np.ndarray:
    if sparse.issparse(X):
        left, right = _gather(Q, X, neighbors)
        difference = left - right
        return np.sqrt(difference.multiply(difference).sum(axis=1)).reshape(neighbors.shape)
    difference = np.subtract(Q[:, None], X[neighbors], dtype=np.float64)
    return np.sqrt(np.einsum("ijk,ijk->ij", difference, difference))


def _products(Q: Features, X: Features, neighbors: np.ndarray) -> np.ndarray:
    if sparse.issparse(X):
        left, right = _gather(Q, X, neighbors)
        return left.multiply(right).sum(axis=1).reshape(neighbors.shape)
    return np.einsum("ik,ijk->ij", Q, X[neighbors], dtype=np.float64)


def _gather(
    Q: sparse.csr_array, X: sparse.csr_array, neighbors: np.ndarray
) -> tuple[sparse.csr_array, sparse.csr_array]:
    own = np.repeat(np.arange(neighbors.shape[0]), neighbors.shape[1])
    return Q[own].astype(np.float64), X[neighbors.ravel()].astype(np.float64)
