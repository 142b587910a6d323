"""scikit-learn's k-means, with the same bits on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from symclust._threads import single_threaded_libraries
from symclust._types import Array
from symclust.exceptions import InputError


def plain_k_means(X: Any, n_clusters: int, n_init: int, random_state: Any, **options: Any) -> KMeans:
    """Fit of k-means to the rows of X; `options` are further ones of scikit-learn's.

    On one thread: scikit-learn adds up centres and distances thread by thread, and the order changes their
    last bits.
    """
    model = KMeans(n_clusters, n_init=n_init, random_state=random_state, **options)
    with single_threaded_libraries():
        return model.fit(X)


def read_weights(weights: Any, n: int, name: str = "sample_weight") -> Array | None:
    """The weights of n samples as positive float64, or None for ones."""
    if weights is None:
        return None
    weights = np.asarray(weights)
    is_usable = weights.shape == (n,) and weights.dtype.kind in "fiub"
    if not is_usable or not np.isfinite(weights).all() or weights.min() <= 0:
        raise InputError(
            f"{name} must hold {n} weights above zero, one per sample; "
            f"got an array of shape {weights.shape} and dtype {weights.dtype}."
        )
    return weights.astype(np.float64)
