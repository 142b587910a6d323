"""How similar the samples of a cluster are to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symclust.metrics._inside import inside_sums, read_clusters

__all__ = ["within_cluster_similarity"]


def within_cluster_similarity(similarity: Any, labels: ArrayLike) -> float:
    r"""Average similarity of two samples of one cluster (Arora, Gupta, Kapila and Fazel 2013, (17)).

    .. math:: \frac{\sum_m \sum_{i, j \in C_m} K_{ij}}{\sum_m n_m^2}

    A sample counts as paired with itself, too.

    Parameters
    ----------
    similarity : array, sparse array or Operator of shape (n_samples, n_samples)
        K.
    labels : array-like of shape (n_samples,)
        The cluster of each sample.

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
    K, labels = read_clusters(similarity, labels)
    pairs = np.sum(np.bincount(labels).astype(np.float64) ** 2)
    return float(inside_sums(K, labels).sum() / pairs)
