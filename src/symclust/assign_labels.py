"""Labels read off memberships: the choices of `assign_labels`.

A class learns what it needs from H, the memberships of the training samples, and then reads rows of it and of
unseen samples alike. Rows of zeros are in no cluster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin

from symclust._labels import NOWHERE, empty_rows, labels_of
from symclust._threads import single_threaded_libraries
from symclust._types import Array
from symclust.k_means import plain_k_means

__all__ = ["Argmax", "Kmeans", "Scaled"]

RESTARTS = 10  # of k-means on the rows


class Argmax:
    """The column of the largest entry of a row, as the papers do.

    Parameters
    ----------
    H : ndarray or csr_array of shape (n_samples, n_clusters)
    seed : int
        For choices that are made by chance.
    """

    def __init__(self, H: Any = None, seed: int = 0) -> None:
        pass

    def __call__(self, H: Any) -> Array:
        """Return the label of each row, −1 for rows of zeros."""
        return labels_of(H)


class Scaled(Argmax):
    """The same once each column is divided by its sum over the training samples.

    Where all samples are somewhat similar, as under dense cosines, a column explains more the heavier it is,
    and would get samples that are nearer to another.
    """

    def __init__(self, H: Any = None, seed: int = 0) -> None:
        sums = np.asarray(abs(H).sum(axis=0, dtype=np.float64)).ravel()
        self.factors = np.divide(1, sums, out=np.ones_like(sums), where=sums > 0)

    def __call__(self, H: Any) -> Array:
        """Return the label of each row once columns are scaled, −1 for rows of zeros."""
        return labels_of(sparse.csr_array(H * self.factors) if sparse.issparse(H) else H * self.factors)


class Kmeans(Argmax):
    """The nearest centre of k-means on the rows, for factors with entries of both signs."""

    def __init__(self, H: Any = None, seed: int = 0) -> None:
        filled = ~empty_rows(H)
        rows = H[filled] if filled.sum() >= H.shape[1] else H  # samples in no cluster move no centre
        self.centers = plain_k_means(rows, H.shape[1], RESTARTS, seed).cluster_centers_

    def __call__(self, H: Any) -> Array:
        """Return the number of the nearest centre, −1 for rows of zeros."""
        with single_threaded_libraries():
            return np.where(empty_rows(H), NOWHERE, pairwise_distances_argmin(H, self.centers))
