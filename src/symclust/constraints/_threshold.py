"""The threshold that projections onto the simplex and the l1 ball have in common."""

from __future__ import annotations

import numpy as np

from symclust._types import Array

__all__ = ["project_simplex"]


def project_simplex(V: Array, total: float = 1.0) -> Array:
    """Project onto {v ≥ 0, Σ v = total} along the last axis: max(v − τ, 0) with the τ that gives the sum.

    By sorting, O(k log k) a row (Duchi, Shalev-Shwartz, Singer and Chandra 2008).

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import project_simplex
    >>> project_simplex(np.array([[0.5, 0.5], [2.0, 0.0], [0.9, 0.5]])).round(2).tolist()
    [[0.5, 0.5], [1.0, 0.0], [0.7, 0.3]]
    """
    # Adding a constant to a row changes nothing; without it sums of large entries would swallow the total.
    V = V - V.max(axis=-1, keepdims=True)
    descending = np.sort(V, axis=-1)[..., ::-1]
    excess = np.cumsum(descending, axis=-1)
    excess -= V.dtype.type(total)
    # An entry stays positive exactly while it exceeds the threshold that it and all larger ones would need.
    count = np.arange(1, V.shape[-1] + 1, dtype=V.dtype)
    positive = np.count_nonzero(descending * count > excess, axis=-1)[..., None]
    V -= np.take_along_axis(excess, positive - 1, axis=-1) / positive.astype(V.dtype)
    np.maximum(V, 0, out=V)
    V *= V.dtype.type(total) / V.sum(axis=-1, keepdims=True)
    return V
