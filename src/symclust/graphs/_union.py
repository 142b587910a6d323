"""From lists of neighbours to a sparse graph."""

from __future__ import annotations

import numpy as np
from scipy import sparse

__all__ = ["default_neighbors", "directed", "index_type", "union"]


def default_neighbors(n: int) -> int:
    """Return q = ⌊log2 n⌋ + 1, which is the number of binary digits of n."""
    return n.bit_length()


def index_type(n: int, edges: int) -> type[np.signedinteger]:
    """Return int32 when both numbers fit, twice over since `union` may double the edges: half the memory."""
    return np.int32 if max(n, 2 * edges) < np.iinfo(np.int32).max else np.int64


def directed(weights: np.ndarray, neighbors: np.ndarray, n: int) -> sparse.csr_array:
    """Return the graph with an edge from each row to each of its neighbours; weights of 0 are no edges."""
    m, q = neighbors.shape
    kind = index_type(n, m * q)
    indptr = np.arange(m + 1, dtype=kind) * kind(q)
    W = sparse.csr_array((weights.ravel(), neighbors.ravel().astype(kind), indptr), shape=(m, n))
    W.eliminate_zeros()
    W.sort_indices()
    return W


def union(W: sparse.csr_array) -> sparse.csr_array:
    """Return the graph that keeps an edge when either end chose it (24).

    Both ends give an edge the same weight up to rounding, and half the sum of two equal numbers is exact: the
    result is symmetric to the bit.
    """
    chosen = sparse.csr_array((np.ones(W.nnz, dtype=W.dtype), W.indices, W.indptr), shape=W.shape)
    E = (W + W.T).tocsr()
    E.data /= (chosen + chosen.T).tocsr().data
    return E
