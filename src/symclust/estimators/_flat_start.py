"""Where a flat factorization starts from known clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

ELSEWHERE = 0.01  # of an entry outside a sample's own cluster, compared with the one inside


def flat_start(A: Any, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return H for the normalised cut of A: h_il goes with the root of the degree of i, largest at its label.

    The unit column that is (d_i / vol(C))^1/2 on the nodes i of a cluster C and zero elsewhere, times
    (assoc(C, C) / vol(C))^1/2, is the one of its direction that fits the normalised matrix best. The other
    entries are small, not zero, so that a sample can change its cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.estimators._flat_start import flat_start
    >>> flat_start(np.kron(np.eye(2), np.ones((2, 2))), np.array([0, 0, 1, 1]), 2).round(3).tolist()
    [[0.707, 0.007], [0.707, 0.007], [0.007, 0.707], [0.007, 0.707]]
    """
    Z = csr_array((np.ones(len(labels)), labels, np.arange(len(labels) + 1)), shape=(len(labels), n_clusters))
    blocks = np.asarray((Z.T @ (A @ Z).astype(np.float64)).diagonal())
    degrees = np.asarray(A @ np.ones(A.shape[0]), dtype=np.float64)
    volumes = np.bincount(labels, weights=degrees, minlength=n_clusters)
    scale = np.divide(np.sqrt(blocks), volumes, out=np.zeros(n_clusters), where=volumes > 0)
    H = (ELSEWHERE * np.sqrt(degrees)[:, np.newaxis] * scale).astype(A.dtype)
    H[np.arange(len(labels)), labels] *= 1 / ELSEWHERE
    return H
