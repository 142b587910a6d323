"""How close samples are to their clusters, for the most typical ones."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from symclust._types import Array

MOST_SCORES = 50_000_000  # entries of samples × clusters that are worth computing


def indicator(labels: Array, n_clusters: int) -> sparse.csr_array:
    """A one at the cluster of each sample, samples × clusters."""
    placed = np.flatnonzero(labels >= 0)
    return sparse.csr_array((np.ones(len(placed)), (placed, labels[placed])), (len(labels), n_clusters))


def closeness(model: Any, labels: Array, n_clusters: int) -> Array:
    """How much of its similarity, or membership, a sample has with its own cluster."""
    A = getattr(model, "affinity_matrix_", None)
    if sparse.issparse(A):
        return inside(sparse.csr_array(A), labels, n_clusters)
    H = getattr(model, "membership_", None)
    if isinstance(A, np.ndarray) and A.shape[0] * n_clusters <= MOST_SCORES:
        sums = A @ indicator(labels, n_clusters)
    elif isinstance(H, np.ndarray) and H.shape == (len(labels), n_clusters):
        sums = H / np.maximum(np.abs(H).sum(axis=1, keepdims=True), np.finfo(float).tiny) + H
    else:
        return np.zeros(len(labels))
    return np.where(labels >= 0, np.asarray(sums)[np.arange(len(labels)), np.maximum(labels, 0)], 0.0)


def inside(A: sparse.csr_array, labels: Array, n_clusters: int) -> Array:
    """The weight of the links of each sample to its own cluster."""
    Z = indicator(labels, n_clusters)
    return np.asarray((A.astype(np.float64) @ Z).multiply(Z).sum(axis=1)).ravel()


def central(strength: Array, labels: Array, n_clusters: int, count: int) -> list[Array]:
    """The samples of largest strength of each cluster, the largest first."""
    order = np.lexsort((-strength, labels))
    starts = np.searchsorted(labels[order], np.arange(n_clusters + 1))
    return [order[a : min(a + count, b)] for a, b in pairwise(starts)]
