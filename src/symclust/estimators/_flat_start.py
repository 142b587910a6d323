"""Where a flat factorization starts from known clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

ELSEWHERE = 0.1  # of an entry outside a sample's own cluster, compared with the one inside


def flat_start(A: Any, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return H for the normalised cut of A: h_il goes with the root of the degree of i, largest at its label.

    A block of the normalised matrix whose nodes are joined in proportion to their degrees is hhᵀ with
    h_i = (d_i / vol)^1/2. The other entries are small, not zero, so that a sample can change its cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.estimators._flat_start import flat_start
    >>> flat_start(np.kron(np.eye(2), np.ones((2, 2))), np.array([0, 0, 1, 1]), 2).round(2).tolist()
    [[0.71, 0.07], [0.71, 0.07], [0.07, 0.71], [0.07, 0.71]]
    """
    degrees = np.asarray(A @ np.ones(A.shape[0]), dtype=np.float64)
    volumes = np.bincount(labels, weights=degrees, minlength=n_clusters)
    scale = np.sqrt(np.divide(1.0, volumes, out=np.zeros(n_clusters), where=volumes > 0))
    H = (ELSEWHERE * np.sqrt(degrees)[:, np.newaxis] * scale).astype(A.dtype)
    H[np.arange(len(labels)), labels] *= 1 / ELSEWHERE
    return H
