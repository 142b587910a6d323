"""The threshold that projections onto the simplex and the l1 ball have in common."""

from __future__ import annotations

import numpy as np

from symclust.constraints._base import Array

__all__ = ["project_simplex"]


def project_simplex(V: Array, total: float) -> Array:
    """Project every row of V onto {v ≥ 0, Σ v = total}: max(v − τ, 0) with the τ that gives the right sum.

    By sorting, O(k log k) a row (Duchi, Shalev-Shwartz, Singer and Chandra 2008).
    """
    # Adding a constant to a row changes nothing; without it sums of large entries would swallow the total.
    V = V - V.max(axis=1, keepdims=True)
    descending = -np.sort(-V, axis=1)
    excess = np.cumsum(descending, axis=1) - total
    count = np.arange(1, V.shape[1] + 1)
    # An entry stays positive exactly while it exceeds the threshold that it and all larger ones would need.
    positive = (descending * count > excess).sum(axis=1, keepdims=True)
    threshold = np.take_along_axis(excess, positive - 1, axis=1) / positive
    projected = np.maximum(V - threshold.astype(V.dtype), 0)
    return projected * (V.dtype.type(total) / projected.sum(axis=1, keepdims=True))
