"""Reading clusters off a factor with entries of both signs."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from threadpoolctl import threadpool_limits

RESTARTS = 10


def find_centers(H: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Return the centres of k-means on the rows of H."""
    # On one thread: scikit-learn adds up centres thread by thread, and the order changes their last bits.
    with threadpool_limits(1):
        return KMeans(n_clusters, n_init=RESTARTS, random_state=seed).fit(H).cluster_centers_


def nearest_center(H: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the number of the centre nearest to each row."""
    with threadpool_limits(1):
        return pairwise_distances_argmin(H, centers)
