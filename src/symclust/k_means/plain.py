"""scikit-learn's k-means, with the same bits on any number of threads."""

from __future__ import annotations

from typing import Any

from sklearn.cluster import KMeans

from symclust._threads import single_threaded_libraries

__all__ = ["plain_k_means"]


def plain_k_means(X: Any, n_clusters: int, n_init: int, random_state: Any, **options: Any) -> KMeans:
    """Return k-means fitted to the rows of X; `options` are further ones of scikit-learn's.

    On one thread: scikit-learn adds up centres and distances thread by thread, and the order changes their
    last bits.
    """
    model = KMeans(n_clusters, n_init=n_init, random_state=random_state, **options)
    with single_threaded_libraries():
        return model.fit(X)
