"""How much of the clusters' weight lies on edges that leave them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symclust.exceptions import InputError
from symclust.metrics._inside import inside_sums, read_clusters

__all__ = ["normalized_cut"]


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
    A, labels = read_clusters(similarity, labels)
    degrees = np.asarray(A @ np.ones(len(labels)), dtype=np.float64)
    if not np.isfinite(degrees).all():
        raise InputError("The similarity contains NaN or infinity, or sums that overflow.")
    association, volume = (np.bincount(labels, weights=sums) for sums in (inside_sums(A, labels), degrees))
    shares = np.divide(association, volume, out=np.zeros(len(volume)), where=volume > 0)
    return float(1 - shares.mean())
