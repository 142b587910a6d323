"""How similar the samples of a cluster are to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symclust.exceptions import InputError

__all__ = ["within_cluster_similarity"]

COLUMNS = 64  # clusters whose sums are formed at once: n × 64 numbers


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
    has_products = hasattr(similarity, "__matmul__") and hasattr(similarity, "dtype")
    K = similarity if has_products else np.asarray(similarity)  # a DataFrame has no single dtype
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.size == 0 or K.shape != (labels.size, labels.size):
        raise InputError(
            f"The similarity has shape {K.shape} and labels has shape {labels.shape}: expected a list of "
            "labels, and one row and one column of similarities for each."
        )
    clusters, labels = np.unique(labels, return_inverse=True)
    # Sums of small integers overflow, and those of booleans are booleans.
    dtype = K.dtype if K.dtype in (np.float32, np.float64) else np.float64
    total = 0.0
    for first in range(0, len(clusters), COLUMNS):
        Z = labels[:, None] == np.arange(first, min(first + COLUMNS, len(clusters)))
        total += float(np.asarray(K @ Z.astype(dtype))[Z].sum(dtype=np.float64))
    return total / float(np.sum(np.bincount(labels).astype(np.float64) ** 2))
