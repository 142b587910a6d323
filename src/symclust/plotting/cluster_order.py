"""The order of samples that puts each cluster in one piece."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symclust.exceptions import InputError

__all__ = ["cluster_order"]


def cluster_order(labels: ArrayLike) -> NDArray[np.intp]:
    """Sort samples by cluster, keeping the given order inside each.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Cluster of each sample; integers or strings.

    Returns
    -------
    ndarray of shape (n_samples,)
        ``A[order][:, order]`` shows clusters as blocks on the diagonal.

    Examples
    --------
    >>> from symclust.plotting import cluster_order
    >>> cluster_order([1, 0, 1, 0])
    array([1, 3, 0, 2])
    """
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InputError(f"labels has shape {array.shape}; expected a list with one cluster for each sample.")
    return np.argsort(array, kind="stable")
