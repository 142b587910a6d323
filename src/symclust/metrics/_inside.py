"""Sums of similarities inside clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symclust.exceptions import InputError

COLUMNS = 64  # clusters whose sums are formed at once: n × 64 numbers


def read_clusters(similarity: Any, labels: ArrayLike) -> tuple[Any, np.ndarray]:
    """Return A as something of real numbers with ``@``, and the clusters as numbers from 0 on."""
    held = hasattr(similarity, "dtype") and not isinstance(similarity, np.ndarray)  # sparse, or an operator
    A = similarity if held else np.asarray(similarity)
    codes = np.unique(np.asarray(labels), return_inverse=True)[1].ravel()
    shape = getattr(A, "shape", None)
    if shape != (np.size(labels), codes.size) or np.ndim(labels) != 1 or not codes.size:
        raise InputError(
            f"The similarity has shape {shape} and there are labels of shape {np.shape(labels)}: it needs "
            "one row and one column for each of at least one sample. Of a graph, give the matrix of weights."
        )
    # Products of booleans are booleans, and those of small integers overflow.
    return A if A.dtype in (np.float32, np.float64) else A.astype(np.float64), codes


def inside_sums(A: Any, labels: np.ndarray) -> np.ndarray:
    """Return for each sample the sum of its similarities to its own cluster."""
    sums, n_clusters = np.zeros(len(labels)), labels.max() + 1
    for first in range(0, n_clusters, COLUMNS):
        Z = labels[:, np.newaxis] == np.arange(first, min(first + COLUMNS, n_clusters))
        sums += np.where(Z, np.asarray(A @ Z.astype(A.dtype)), 0).sum(axis=1, dtype=np.float64)
    return sums
