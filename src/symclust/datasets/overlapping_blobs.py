"""Gaussian blobs that run into each other."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_blobs

from symclust._types import Array
from symclust.validation import check_n_clusters, check_number

__all__ = ["overlapping_blobs"]


def overlapping_blobs(
    n_samples: int = 1000,
    n_clusters: int = 20,
    n_features: int = 8,
    width: float = 2.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Array, Array]:
    """Points around centres drawn uniformly from the box [-10, 10]^n_features.

    Every blob is an isotropic Gaussian of standard deviation `width` and holds the same number of points (one
    more in some when the numbers do not divide). The points come in random order. In 8 dimensions with 20
    blobs, a width of 1.5 leaves the blobs apart, 2.0 lets some touch, and at 3.0 neighbours flow into each
    other. The speed benchmark uses 50,000 points at these three widths.

    Parameters
    ----------
    n_samples, n_clusters, n_features : int
        Number of points, blobs and dimensions.
    width : float
        Standard deviation of a blob in each direction.
    random_state : int, RandomState or None
        Makes the data repeatable.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        The blob of each point, from 0 to n_clusters - 1.

    Examples
    --------
    >>> from symclust.datasets import overlapping_blobs
    >>> X, y = overlapping_blobs(n_samples=60, n_clusters=3, random_state=0)
    >>> X.shape, [int((y == c).sum()) for c in range(3)]
    ((60, 8), [20, 20, 20])
    """
    check_number("n_samples", n_samples, least=1, whole=True)
    check_n_clusters(n_clusters, n_samples)
    check_number("n_features", n_features, least=1, whole=True)
    check_number("width", width, least=0)
    X, y = make_blobs(
        n_samples,
        n_features,
        centers=n_clusters,
        cluster_std=width,
        center_box=(-10.0, 10.0),
        random_state=random_state,
    )
    return X, y
