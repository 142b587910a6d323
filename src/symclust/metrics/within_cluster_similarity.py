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
    K = similarity if hasattr(similarity, "__matmul__") else np.asarray(similarity)
    clusters, labels = np.unique(np.asarray(labels), return_inverse=True)
    if getattr(K, "shape", None) != (labels.size, labels.size):
        raise InputError(
            f"The similarity has shape {getattr(K, 'shape', None)} and there are {labels.size} labels: "
            "it needs one row and one column for each sample."
        )
    total = 0.0
    for first in range(0, len(clusters), COLUMNS):
        Z = labels[:, None] == np.arange(first, min(first + COLUMNS, len(clusters)))
        total += float(np.asarray(K @ Z.astype(K.dtype))[Z].sum(dtype=np.float64))
    return total / float(np.sum(np.bincount(labels).astype(np.float64) ** 2))
