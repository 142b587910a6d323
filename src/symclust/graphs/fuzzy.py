"""Fuzzy weights between neighbours: each sample belongs fully to its nearest one, whatever the density."""

from __future__ import annotations

from math import log2

import numpy as np
from scipy import sparse

from symclust._types import Array, Features, Matrix, SimilarityLike
from symclust.graphs._copies import SampleSearch
from symclust.graphs._neighbors import directed
from symclust.graphs.affinities import Affinity
from symclust.validation import check_features

__all__ = ["Fuzzy", "fuzzy"]

ROUNDS = 24  # of Newton's method, which is exact to rounding after about ten
STEEPEST = 1e3  # in one over the mean distance beyond the nearest: ties would have it grow without end


class Fuzzy(Affinity):
    """The affinity behind `fuzzy`, with `extend` for unseen samples."""

    def _edges(self, n: int) -> int:
        return self.n_neighbors or n.bit_length()  # ⌊log2 n⌋ + 1

    def _similarity(self, X: Features, q: int | None) -> SimilarityLike:
        assert q is not None
        self._search = SampleSearch(X, method=self._method)
        return self._search.tied(either(self._chosen(*self._search.nearest(q))))

    def _cross(self, X_new: Features, q: int | None) -> Matrix:
        assert q is not None
        return self._chosen(*self._search.nearest(q, X_new))

    def _join(self, X: Features, n: int, q: int | None) -> Matrix:
        assert q is not None
        self._search = SampleSearch(X, method=self._method)
        W = self._chosen(*self._search.nearest(q, rows=np.arange(n, X.shape[0])))
        return self._search.tied(sparse.csr_array(sparse.hstack([W[:, :n], either(W[:, n:])], format="csr")))

    def _chosen(self, distances: Array, neighbors: Array) -> sparse.csr_array:
        """Return the edges that samples choose, before those that others choose are added."""
        X = self._search.X
        return directed(local_weights(distances).astype(X.dtype), neighbors, X.shape[0])


def local_weights(distances: Array) -> Array:
    """Return exp(−(d_ij − ρ_i) / σ_i), ρ_i being the least distance and σ_i such that a row sums to log2 q.

    The sum falls in 1/σ and is convex: Newton's method from 0 comes from one side, and needs no bounds.
    Distances (n × q) are those to the q nearest, in ascending order.
    """
    if not distances.shape[1]:
        return distances
    beyond = distances - distances[:, :1]
    mean = beyond.mean(axis=1, keepdims=True)
    beyond /= np.where(mean > 0, mean, 1)
    rate = np.zeros_like(mean)
    for _ in range(ROUNDS):
        weights = np.exp(-rate * beyond)
        slope = (weights * beyond).sum(axis=1, keepdims=True)
        excess = weights.sum(axis=1, keepdims=True) - log2(distances.shape[1])
        step = np.divide(excess, slope, out=np.zeros_like(slope), where=slope > np.finfo(np.float64).tiny)
        rate = np.clip(rate + step, 0, STEEPEST)
    return np.exp(-rate * beyond)


def either(W: sparse.csr_array) -> sparse.csr_array:
    """Return a + b − ab, the weight that an edge has if its ends give it a and b."""
    E = sparse.csr_array(W + W.T - W * W.T)
    E.eliminate_zeros()
    return E


def fuzzy(X: Features, n_neighbors: int | None = None, normalize: bool = False) -> sparse.csr_array:
    """Weights between neighbours that do not depend on how dense samples lie (McInnes et al., 2018).

    Sample i gives its neighbours the weights exp(−(d_ij − ρ_i) / σ_i): ρ_i is the distance of its nearest
    one, which has weight 1, and σ_i is such that they sum to log2 q. The two weights of a pair are joined to
    a + b − ab.

    Parameters
    ----------
    X : array-like or sparse of shape (n_samples, n_features)
    n_neighbors : int, optional
        q, as in `nearest_neighbors`.
    normalize : bool
        Apply `normalized_cut`.

    Returns
    -------
    A : csr_array of shape (n_samples, n_samples)

    Examples
    --------
    >>> from symclust.graphs import fuzzy
    >>> fuzzy([[0.0], [1.0], [5.0], [25.0]], n_neighbors=2).toarray().round(2).tolist()
    [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]
    """
    return Fuzzy(n_neighbors, normalize).fit(check_features(X), check_input=False)
