"""Rows that are probabilities, and the projection onto them, which the l1 ball uses too."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust._types import Array
from symclust.constraints._base import Constraint
from symclust.validation import check_number

__all__ = ["Simplex"]


class Simplex(Constraint):
    """Every row is nonnegative and sums to the same total: shares of a sample in the clusters.

    Parameters
    ----------
    total : float, default=1.0
        The sum of a row. With 1 the entries of HHᵀ lie between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import Simplex
    >>> Simplex().project(np.array([[0.5, 0.9, -1.0]])).round(6).tolist()
    [[0.3, 0.7, 0.0]]
    """

    offers: ClassVar[frozenset[str]] = frozenset({"convex"})
    on_device: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = True

    def __init__(self, total: float = 1.0) -> None:
        check_number("total", total, least=0, exclusive=True)
        self.total = total

    def project(self, H: Array) -> Array:
        """The nearest rows on the simplex."""
        return project_simplex(H, self.total)

    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """(h − P(h − t∇)) / t for each row h: zero at stationary points and nowhere else.

        The step t lets the largest difference of two entries of the gradient move a row by `total`; so an
        entry of h that is nearly zero, and should be, counts as nearly stationary. If the step stays inside
        the simplex, it is the gradient less its mean.
        """
        spread = np.ptp(gradient, axis=1, keepdims=True)
        step = np.divide(self.total, spread, out=np.ones_like(spread), where=spread > 0)
        return (H - self.project(H - step * gradient)) / step

    def violation(self, H: Array) -> float:
        """Largest distance of an entry below zero, or of the sum of a row from the total."""
        if not H.size:
            return 0.0
        return float(max(-H.min(), np.abs(H.sum(axis=1) - self.total).max()))


def project_simplex(V: Array, total: float = 1.0) -> Array:
    """Project onto {v ≥ 0, Σ v = total} along the last axis: max(v − τ, 0) with the τ that gives the sum.

    By sorting, O(k log k) per row (Duchi, Shalev-Shwartz, Singer and Chandra 2008).

    Parameters
    ----------
    V : ndarray of shape (..., k)
    total : float, default=1.0

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import project_simplex
    >>> project_simplex(np.array([[0.5, 0.5], [2.0, 0.0], [0.9, 0.5]])).round(2).tolist()
    [[0.5, 0.5], [1.0, 0.0], [0.7, 0.3]]
    """
    # Adding a constant to a row changes nothing; without it sums of large entries would swallow the total.
    V = V - V.max(axis=-1, keepdims=True)
    descending = np.flip(np.sort(V, axis=-1), axis=-1)
    excess = np.cumsum(descending, axis=-1)
    excess -= V.dtype.type(total)
    # An entry stays positive exactly while it exceeds the threshold that it and all larger ones would need.
    count = np.arange(1, V.shape[-1] + 1, dtype=V.dtype)
    positive = np.count_nonzero(descending * count > excess, axis=-1)[..., None]
    V -= np.take_along_axis(excess, positive - 1, axis=-1) / positive.astype(V.dtype)
    np.maximum(V, 0, out=V)
    V *= V.dtype.type(total) / V.sum(axis=-1, keepdims=True)
    return V
