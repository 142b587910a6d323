"""Cosine similarity."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symclust._types import Features, Matrix, SimilarityLike
from symclust.graphs._base import Affinity
from symclust.graphs._neighbors import NeighborSearch
from symclust.graphs._pairs import pair_products
from symclust.graphs._union import directed, index_type, union
from symclust.graphs._unit_rows import inverse_norms, unit_rows
from symclust.operators import Gram, Operator

__all__ = ["Cosine", "cosine"]


class Cosine(Affinity):
    """The affinity behind `cosine`, with `extend` for unseen samples.

    Attributes
    ----------
    unit_ : ndarray or csr_array of shape (n_samples, n_features)
        The training samples scaled to length 1.
    """

    def _similarity(self, X: Features) -> SimilarityLike:
        self.unit_ = unit_rows(X)
        if self.n_neighbors is None:
            return Gram(self.unit_, self_edges=False)  # (21)
        found, W = self._directed(None, self.n_neighbors)
        edges = union(W).tocoo()  # (24)
        return self._graph(edges.data, found[edges.row], found[edges.col], X.shape[0])

    def _cross(self, X_new: Features) -> Matrix:
        Q = unit_rows(X_new)
        if self.n_neighbors is None:
            return Q @ self.unit_.T
        found, W = self._directed(Q, self.n_neighbors)
        edges = W.tocoo()
        return self._graph(edges.data, edges.row, found[edges.col], Q.shape[0])

    def _directed(self, Q: Features | None, q: int) -> tuple[np.ndarray, sparse.csr_array]:
        """Return the rows that can be neighbours, and the cosines of Q, or of themselves, with the nearest.

        Among unit rows ‖u − v‖² = 2 − 2uᵀv: the nearest are the most similar. Zero rows are left out, at
        distance 1 they would pass for near.
        """
        found = np.flatnonzero(inverse_norms(self.unit_))
        U = self.unit_[found]
        Q = U if Q is None else Q
        if not found.size:
            return found, sparse.csr_array((Q.shape[0], 0), dtype=U.dtype)
        _, neighbors = NeighborSearch(U).nearest(q, None if Q is U else Q)
        products = pair_products(Q, U, neighbors).clip(-1, 1)  # (21)
        return found, directed(products.astype(U.dtype, copy=False), neighbors, found.size)

    def _graph(self, values: np.ndarray, rows: np.ndarray, columns: np.ndarray, n: int) -> sparse.csr_array:
        kind = index_type(self.X_.shape[0], values.size)
        pairs = (rows.astype(kind, copy=False), columns.astype(kind, copy=False))
        return sparse.csr_array((values, pairs), shape=(n, self.X_.shape[0]))

    def _degrees(self, E: SimilarityLike) -> np.ndarray:
        d = super()._degrees(E)
        if not isinstance(E, Operator):
            return d
        # The operator subtracts self-edges of 1: what is left of an isolated sample is rounding.
        width = self.X_.nnz // self.X_.shape[0] if sparse.issparse(self.X_) else self.X_.shape[1]
        return np.where(np.abs(d) <= max(8, width) * np.finfo(E.dtype).eps, 0, d)


def cosine(X: Any, n_neighbors: int | None = None, normalize: bool = False) -> SimilarityLike:
    """Cosine similarity e_ij = x_iᵀx_j / (‖x_i‖ ‖x_j‖), e_ii = 0 (Kuang, Yun and Park 2015, (21)).

    Parameters
    ----------
    X : array-like or sparse of shape (n_samples, n_features)
        Nonnegative for nonnegative similarities, for example counts or tf-idf weights of words.
    n_neighbors : int, optional
        Keep only edges between a sample and those most similar to it (24). By default all.
    normalize : bool
        Apply `normalized_cut` (25); refused if the cosines of a sample sum to less than 0.

    Returns
    -------
    A : Gram, or csr_array if `n_neighbors` is given, of shape (n_samples, n_samples)
        The complete graph is an operator that keeps X, dense or sparse, and never forms n × n numbers;
        ``A.toarray()`` does.

    Notes
    -----
    A zero row has no direction: its similarity to everything is 0, it is nobody's neighbour and stays
    isolated. Duplicates have similarity 1 before normalisation.

    Examples
    --------
    >>> from symclust.graphs import cosine
    >>> cosine([[3.0, 4.0], [4.0, 3.0], [0.0, 2.0]]).toarray().round(2).tolist()
    [[0.0, 0.96, 0.8], [0.96, 0.0, 0.6], [0.8, 0.6, 0.0]]
    >>> cosine([[3.0, 4.0], [4.0, 3.0], [0.0, 2.0]], n_neighbors=1).toarray().round(2).tolist()
    [[0.0, 0.96, 0.8], [0.96, 0.0, 0.0], [0.8, 0.0, 0.0]]
    """
    return Cosine(n_neighbors, normalize).fit(X)
