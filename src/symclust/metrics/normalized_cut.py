"""How much of the clusters' weight lies on edges that leave them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symclust.exceptions import InputError

__all__ = ["normalized_cut"]

COLUMNS = 64  # clusters whose sums are formed at once where the similarity is no sparse matrix


def normalized_cut(similarity: Any, labels: ArrayLike) -> float:
    r"""Average normalised cut of the clusters.

    .. math:: \frac{1}{k} \sum_{l=1}^k \frac{cut(C_l, V \setminus C_l)}{vol(C_l)}
              = 1 - \frac{1}{k} \sum_{l=1}^k \frac{\sum_{i, j \in C_l} a_{ij}}{\sum_{i \in C_l} d_i}

    with the degrees d_i = Σ_j a_ij: the mean over clusters of the share of their weight on edges that leave.

    Parameters
    ----------
    similarity : array, sparse array or Operator of shape (n_samples, n_samples)
        A, symmetric and nonnegative, not yet normalised.
    labels : array-like of shape (n_samples,)
        The cluster of each sample.

    Returns
    -------
    float
        From 0, no edge between clusters, to 1; smaller is better. Comparable for clusterings with the same
        number of clusters: few are easier to cut than many. A cluster without edges counts as 1.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.metrics import normalized_cut
    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> print(round(normalized_cut(path, [0, 0, 1, 1]), 3))
    0.333
    """
    A = similarity if hasattr(similarity, "__matmul__") else np.asarray(similarity)
    clusters, labels = np.unique(np.asarray(labels), return_inverse=True)
    n, k = labels.size, clusters.size
    if getattr(A, "shape", None) != (n, n):
        raise InputError(
            f"The similarity has shape {getattr(A, 'shape', None)} and there are {n} labels: it needs one "
            "row and one column for each sample."
        )
    inside = np.zeros(n)  # weight of each sample's edges into its own cluster
    for first in range(0, k, COLUMNS):
        Z = labels[:, None] == np.arange(first, min(first + COLUMNS, k))
        inside += np.where(Z, np.asarray(A @ Z.astype(A.dtype)), 0).sum(axis=1, dtype=np.float64)
    degrees = np.asarray(A @ np.ones(n), dtype=np.float64)
    association, volume = (np.bincount(labels, weights=sums, minlength=k) for sums in (inside, degrees))
    shares = np.divide(association, volume, out=np.zeros(k), where=volume > 0)
    return float(1 - shares.mean())
