"""scikit-learn's k-means, with the same bits on any number of threads, and the phase that it leaves out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.utils.extmath import row_norms

from symclust._threads import single_threaded_libraries
from symclust._types import Array
from symclust.exceptions import InputError

WORTH = 1e-9  # share of a sample's part in the objective below which a gain may be rounding


def plain_k_means(X: Any, n_clusters: int, n_init: int, random_state: Any, **options: Any) -> KMeans:
    """Fit of k-means to the rows of X; `options` are further ones of scikit-learn's.

    On one thread: scikit-learn adds up centres and distances thread by thread, and the order changes their
    last bits.
    """
    model = KMeans(n_clusters, n_init=n_init, random_state=random_state, **options)
    with single_threaded_libraries():
        return model.fit(X)


def both_phases(X: Any, n_clusters: int, random_state: Any, **options: Any) -> KMeans:
    """Fit of k-means from one start, with the labels and the objective after the online phase."""
    model = plain_k_means(X, n_clusters, 1, random_state, **options)
    model.labels_ = online_phase(X, model.labels_)
    sums = _sums(X, model.labels_)
    explained = row_norms(sums, squared=True) / np.maximum(np.bincount(model.labels_), 1)
    model.inertia_ = float(row_norms(X, squared=True).sum() - explained.sum())
    return model


def online_phase(X: Any, labels: Array, max_iter: int = 100) -> Array:
    """Labels after moving samples one by one, each as soon as that lowers the objective.

    The second phase of Matlab's k-means, which the papers' columns "k-means" have. The batch phase ends if
    each sample is nearest to its own centre; but with a sample its centre moves too. From a cluster of n
    samples at a distance d it takes n/(n − 1) d², and brings m/(m + 1) d² to one of m samples: if that is
    less, the sum of squares falls further, by 1 to 6 % on documents.
    """
    labels, sizes = np.array(labels), np.bincount(labels).astype(float)
    squares = row_norms(X, squared=True)
    for _ in range(max_iter):
        sums = _sums(X, labels)  # made anew in each pass, so that rounding does not add up
        norms, moved = row_norms(sums, squared=True), False
        prices = _prices(np.asarray(X @ sums.T), squares[:, None], norms, sizes, labels)
        for i in np.flatnonzero(prices.argmin(axis=1) != labels):
            row = X[[i]]
            inner = (row @ sums.T).reshape(-1)
            price = _prices(inner[None], squares[i], norms, sizes, labels[[i]])[0]
            here, there = labels[i], price.argmin()
            if price[here] - price[there] <= WORTH * squares[i]:
                continue
            for cluster, sign in ((here, -1), (there, 1)):
                norms[cluster] += 2 * sign * inner[cluster] + squares[i]
                sizes[cluster] += sign
                if sparse.issparse(row):
                    sums[cluster, row.indices] += sign * row.data
                else:
                    sums[cluster] += sign * row[0]
            labels[i], moved = there, True
        if not moved:
            break
    return labels


def _sums(X: Any, labels: Array) -> Array:
    Z = sparse.csr_array((np.ones(len(labels)), labels, np.arange(len(labels) + 1)))
    sums = Z.T @ X
    return sums.toarray() if sparse.issparse(sums) else sums


def _prices(inner: Array, squares: Any, norms: Array, sizes: Array, labels: Array) -> Array:
    """Return how much each sample adds to the objective in each cluster; a single one adds nothing."""
    divisors = np.maximum(sizes, 1)  # an empty cluster takes a sample for nothing
    distances = np.maximum(squares - 2 * inner / divisors + norms / divisors**2, 0)
    prices, own = distances * sizes / (sizes + 1), np.arange(len(labels))
    rest = sizes[labels] - 1
    prices[own, labels] = np.where(
        rest > 0, distances[own, labels] * sizes[labels] / np.maximum(rest, 1), -np.inf
    )
    return prices


def read_weights(weights: Any, n: int, name: str = "sample_weight") -> Array | None:
    """The weights of n samples as positive float64, or None for ones."""
    if weights is None:
        return None
    weights = np.asarray(weights)
    is_usable = weights.shape == (n,) and weights.dtype.kind in "fiub"
    if not is_usable or not np.isfinite(weights).all() or weights.min() <= 0:
        raise InputError(
            f"{name} must hold {n} weights above zero, one per sample; "
            f"got an array of shape {weights.shape} and dtype {weights.dtype}."
        )
    return weights.astype(np.float64)
