"""Cosine similarity."""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np
from scipy import sparse

from symclust._types import Array, Features, Matrix, SimilarityLike
from symclust.graphs._copies import SampleSearch, directions
from symclust.graphs._lengths import inverse_norms, unit_rows
from symclust.graphs._neighbors import directed, index_type, pair_products, union, union_among_new
from symclust.graphs.affinities import Affinity
from symclust.operators import Gram, Operator, stacked
from symclust.validation import check_features

__all__ = ["Cosine", "cosine"]


class Cosine(Affinity):
    """The affinity behind `cosine`, with `extend` for unseen samples.

    `unit_` has the training samples scaled to length 1.
    """

    def _points(self, X: Features) -> None:
        return None

    def _similarity(self, X: Features, q: int | None) -> SimilarityLike:
        self.unit_ = unit_rows(X) if q is None else directions(X)
        if q is None:
            return Gram(self.unit_, self_edges=False)  # (21)
        if not self._prepare_search():
            return sparse.csr_array((X.shape[0], X.shape[0]), dtype=X.dtype)
        edges = self._search.tied(union(self._directed(None, q))).tocoo()  # (24)
        return self._graph(edges.data, self._found[edges.row], self._found[edges.col], X.shape[0])

    def _prepare_search(self) -> bool:
        """Make neighbours searchable; return whether there are any."""
        # Zero rows are nobody's neighbours: at distance 1 of unit rows they would pass for near.
        self._found = np.flatnonzero(inverse_norms(self.unit_))
        if self._found.size:
            U = self.unit_ if self._found.size == self.unit_.shape[0] else self.unit_[self._found]
            # Lengths are rounded: parallel rows are as far apart as that.
            self._search = SampleSearch(U, 4 * float(np.finfo(U.dtype).eps), self._method)
        return bool(self._found.size)

    def grown(self, A: SimilarityLike, X_new: Features) -> tuple[Self, SimilarityLike]:
        """Return the rule and its similarity once samples have joined; a complete graph is that of all."""
        if self.n_neighbors is not None:
            return super().grown(A, X_new)
        rule = copy(self)
        return rule, rule.fit(stacked([self.X_, self._like_training(X_new)]), check_input=False)

    def _join(self, X: Features, n: int, q: int | None) -> Matrix:
        assert q is not None  # a complete graph is made anew, which costs a copy of X
        self.unit_ = directions(X)
        m = X.shape[0] - n
        if not self._prepare_search():
            return sparse.csr_array((m, X.shape[0]), dtype=X.dtype)
        first = int(np.searchsorted(self._found, n))
        edges = self._search.tied(union_among_new(self._directed(None, q, first), first)).tocoo()
        return self._graph(edges.data, self._found[first + edges.row] - n, self._found[edges.col], m)

    def _cross(self, X_new: Features, q: int | None) -> Matrix:
        Q = unit_rows(X_new)
        if q is None:
            return Q @ self.unit_.T
        if not self._found.size:
            return sparse.csr_array((Q.shape[0], self.unit_.shape[0]), dtype=Q.dtype)
        edges = self._directed(Q, q).tocoo()
        return self._graph(edges.data, edges.row, self._found[edges.col], Q.shape[0])

    def _directed(self, Q: Features | None, q: int, first: int = 0) -> sparse.csr_array:
        """Return the cosines of Q, or of the training samples from `first` on, with the nearest of these.

        Among unit rows ‖u − v‖² = 2 − 2uᵀv: the nearest are the most similar.
        """
        U = self._search.X
        samples, own = (U[first:], np.arange(first, U.shape[0])) if Q is None else (Q, None)
        _, neighbors = self._search.nearest(q, Q, own)
        rows = np.repeat(np.arange(neighbors.shape[0]), neighbors.shape[1])
        products = pair_products(samples, U, rows, neighbors.ravel()).clip(-1, 1)  # (21)
        return directed(products.astype(U.dtype, copy=False).reshape(neighbors.shape), neighbors, U.shape[0])

    def _graph(self, values: Array, rows: Array, columns: Array, n: int) -> sparse.csr_array:
        kind = index_type(self.unit_.shape[0], values.size)
        pairs = (rows.astype(kind, copy=False), columns.astype(kind, copy=False))
        return sparse.csr_array((values, pairs), shape=(n, self.unit_.shape[0]))

    def _degrees(self, E: SimilarityLike) -> Array:
        d = super()._degrees(E)
        if not isinstance(E, Operator):
            return d
        # The operator subtracts self-edges of 1: what is left of an isolated sample is rounding.
        width = self.unit_.nnz // self.unit_.shape[0] if sparse.issparse(self.unit_) else self.unit_.shape[1]
        return np.where(np.abs(d) <= max(8, width) * np.finfo(E.dtype).eps, 0, d)


def cosine(X: Features, n_neighbors: int | None = None, normalize: bool = False) -> SimilarityLike:
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
    isolated. Copies and parallel rows have similarity 1 before normalisation; with `n_neighbors` they are
    joined as `nearest_neighbors` says.

    Examples
    --------
    >>> from symclust.graphs import cosine
    >>> cosine([[3.0, 4.0], [4.0, 3.0], [0.0, 2.0]]).toarray().round(2).tolist()
    [[0.0, 0.96, 0.8], [0.96, 0.0, 0.6], [0.8, 0.6, 0.0]]
    >>> cosine([[3.0, 4.0], [4.0, 3.0], [0.0, 2.0]], n_neighbors=1).toarray().round(2).tolist()
    [[0.0, 0.96, 0.8], [0.96, 0.0, 0.0], [0.8, 0.0, 0.0]]
    """
    return Cosine(n_neighbors, normalize).fit(check_features(X), check_input=False)
