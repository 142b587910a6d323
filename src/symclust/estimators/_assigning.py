"""Reading clusters off a factor with entries of both signs."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from symclust._threads import single_threaded_libraries
from symclust.estimators._k_means import k_means

RESTARTS = 10


def find_centers(H: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Return the centres of k-means on the rows of H."""
    return k_means(H, n_clusters, RESTARTS, seed).cluster_centers_


def nearest_center(H: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the number of the centre nearest to each row."""
    with single_threaded_libraries():
        return pairwise_distances_argmin(H, centers)
