"""Number of classes that a cluster mixes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics.cluster import contingency_matrix

from symclust.exceptions import InputError

__all__ = ["conditional_perplexity"]


def conditional_perplexity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Average number of classes in a cluster, 2 to the conditional entropy of classes given clusters.

    .. math:: 2^{H(L|C)}, \quad H(L|C) = -\sum_{l,c} p(l, c) \log_2 p(l|c)

    (Arora, Gupta, Kapila and Fazel 2013, 4.2.3). One where every cluster holds a single class; it does not
    punish clusters for being many.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Known classes and found clusters.

    Examples
    --------
    >>> from symclust.metrics import conditional_perplexity
    >>> conditional_perplexity([0, 1, 0, 1], [0, 0, 1, 1])
    2.0
    """
    y, z = np.asarray(labels_true), np.asarray(labels_pred)
    if y.ndim != 1 or y.shape != z.shape or y.size == 0:
        raise InputError(
            f"labels_true has shape {y.shape} and labels_pred {z.shape}; both need one entry for each sample."
        )
    counts = contingency_matrix(y, z).astype(np.float64)
    shares = counts / counts.sum(axis=0)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return float(2 ** (-np.sum(counts * logs) / y.size))
