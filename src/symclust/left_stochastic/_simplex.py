"""Rows on the probability simplex."""

from __future__ import annotations

import numpy as np

from symclust.constraints import Constraint

Array = np.ndarray


def project_rows(Q: Array, total: float = 1.0) -> Array:
    """Return the nearest points with nonnegative entries that sum to `total`, along the last axis.

    The nearest point is max(q − θ, 0) with one θ for the whole row (Michelot 1986). With the entries in
    descending order, θ is the last of the running values (q_1 + ... + q_j − total) / j that lies below q_j.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.left_stochastic import project_rows
    >>> project_rows(np.array([[0.5, 0.5], [2.0, 0.0], [0.9, 0.5]])).round(2).tolist()
    [[0.5, 0.5], [1.0, 0.0], [0.7, 0.3]]
    """
    k = Q.shape[-1]
    descending = np.sort(Q, axis=-1)[..., ::-1]
    running = np.cumsum(descending, axis=-1)
    running -= Q.dtype.type(total)
    running /= np.arange(1, k + 1, dtype=Q.dtype)
    last = np.count_nonzero(descending > running, axis=-1)[..., None] - 1
    out = Q - np.take_along_axis(running, np.maximum(last, 0), axis=-1)
    return np.maximum(out, 0, out=out)


class RowSimplex(Constraint):
    """Rows that are nonnegative and sum to `total`.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.left_stochastic import RowSimplex
    >>> RowSimplex().violation(np.array([[0.7, 0.7]])).__round__(2)
    0.4
    """

    def __init__(self, total: float = 1.0) -> None:
        self.total = float(total)

    def project(self, H: Array) -> Array:
        """Return the nearest point, row by row."""
        return project_rows(H, self.total)

    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """Return (h − [h − s g]) / s with [·] the projection: zero at stationary points and nowhere else.

        Inside the simplex it is the gradient less its mean. The step s lets the largest difference of two
        entries of g move a row by `total`; so an entry of h that is nearly zero, and should be, counts as
        nearly stationary.
        """
        spread = np.ptp(gradient, axis=1, keepdims=True)
        step = np.divide(self.total, spread, out=np.ones_like(spread), where=spread > 0)
        return (H - self.project(H - step * gradient)) / step

    def violation(self, H: Array) -> float:
        """Return how far an entry lies below zero or a row's sum from `total`, whichever is more."""
        sums = np.abs(H.sum(axis=1) - self.total).max(initial=0.0)
        return float(max(sums, -H.min(initial=0.0), 0.0))
