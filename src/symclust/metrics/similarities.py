"""How similar the samples of a cluster are, measured on the similarities alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symclust._types import Array, SimilarityLike
from symclust.exceptions import InputError

COLUMNS = 64  # clusters whose sums are formed at once: n × 64 numbers


def within_cluster_similarity(similarity: SimilarityLike, labels: ArrayLike) -> float:
    r"""Average similarity of two samples of one cluster (Arora, Gupta, Kapila and Fazel 2013, (17)).

    .. math:: \frac{\sum_m \sum_{i, j \in C_m} K_{ij}}{\sum_m n_m^2}

    A sample counts as paired with itself, too.

    Parameters
    ----------
    similarity : array, sparse array or Operator of shape (n_samples, n_samples)
        K.
    labels : array-like of shape (n_samples,)
        The cluster of each sample. Samples with label −1 belong to no cluster and are left out.

    Returns
    -------
    float
        On the scale of the similarities; larger is better.

    Examples
    --------
    >>> from symclust.metrics import within_cluster_similarity
    >>> K = [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> within_cluster_similarity(K, [0, 0, 1])
    0.8
    """
    K, labels = _read_clusters(similarity, labels)
    pairs = np.sum(np.bincount(labels[labels >= 0]).astype(np.float64) ** 2)
    return float(_inside_sums(K, labels).sum() / pairs)


def average_normalized_cut(similarity: SimilarityLike, labels: ArrayLike) -> float:
    r"""Average normalised cut of the clusters.

    .. math:: \frac{1}{k} \sum_{l=1}^k \frac{cut(C_l, V \setminus C_l)}{vol(C_l)}
              = 1 - \frac{1}{k} \sum_{l=1}^k \frac{\sum_{i, j \in C_l} a_{ij}}{\sum_{i \in C_l} d_i}

    with the degrees d_i = Σ_j a_ij: the mean over clusters of the share of their weight on edges that leave.
    `symclust.graphs.normalized_cut` is a graph whose spectrum bounds it.

    Parameters
    ----------
    similarity : array, sparse array or Operator of shape (n_samples, n_samples)
        A, symmetric and nonnegative, not yet normalised.
    labels : array-like of shape (n_samples,)
        The cluster of each sample. Samples with label −1 belong to no cluster and are left out.

    Returns
    -------
    float
        From 0, no edge between clusters, to 1; smaller is better. Comparable for clusterings with the same
        number of clusters: few are easier to cut than many. A cluster without edges counts as 1.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.metrics import average_normalized_cut
    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> print(round(average_normalized_cut(path, [0, 0, 1, 1]), 3))
    0.333
    """
    A, labels = _read_clusters(similarity, labels)
    degrees = np.asarray(A @ np.ones(len(labels)), dtype=np.float64)
    if not np.isfinite(degrees).all():
        raise InputError("The similarity contains NaN or infinity, or sums that overflow.")
    placed, inside = labels >= 0, _inside_sums(A, labels)
    association, volume = (np.bincount(labels[placed], sums[placed]) for sums in (inside, degrees))
    shares = np.divide(association, volume, out=np.zeros(len(volume)), where=volume > 0)
    return float(1 - shares.mean())


def _read_clusters(similarity: Any, labels: ArrayLike) -> tuple[Any, Array]:
    """A as something of real numbers with ``@``, and the clusters as numbers from 0 on, −1: none."""
    held = hasattr(similarity, "dtype") and not isinstance(similarity, np.ndarray)  # sparse, or an operator
    A = similarity if held else np.asarray(similarity)
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    codes = codes.ravel() - (names.dtype.kind in "if" and names.size > 0 and names[0] == -1)
    shape = getattr(A, "shape", None)
    if shape != (np.size(labels), codes.size) or np.ndim(labels) != 1 or not codes.size:
        raise InputError(
            f"The similarity has shape {shape} and there are labels of shape {np.shape(labels)}: it needs "
            "one row and one column for each of at least one sample. Of a graph, give the matrix of weights."
        )
    if codes.max() < 0:
        raise InputError("All labels are -1: no sample is in a cluster, so there is nothing to measure.")
    # Products of booleans are booleans, and those of small integers overflow.
    return A if A.dtype in (np.float32, np.float64) else A.astype(np.float64), codes


def _inside_sums(A: Any, labels: Array) -> Array:
    """For each sample the sum of its similarities to its own cluster."""
    sums, n_clusters = np.zeros(len(labels)), labels.max() + 1
    for first in range(0, n_clusters, COLUMNS):
        Z = labels[:, np.newaxis] == np.arange(first, min(first + COLUMNS, n_clusters))
        sums += np.where(Z, np.asarray(A @ Z.astype(A.dtype)), 0).sum(axis=1, dtype=np.float64)
    return sums
