"""scikit-learn's k-means, with the same bits on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from symclust._threads import single_threaded_libraries


def k_means(rows: np.ndarray, n_clusters: int, n_init: int, random_state: Any) -> KMeans:
    """Return k-means fitted to the rows.

    On one thread: scikit-learn adds up centres and distances thread by thread, and the order changes their
    last bits.
    """
    with single_threaded_libraries():
        return KMeans(n_clusters, n_init=n_init, random_state=random_state).fit(rows)
