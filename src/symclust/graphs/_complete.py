"""A function of the distances of all pairs of dense rows, in blocks on several threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from symclust._threads import map_blocks, single_threaded_blas, split
from symclust._types import Array

ROWS = 256  # rows computed at a time
CANCELLED = 1e-4  # squared distances below this share of ‖x‖² + ‖y‖² are computed from differences
CELLS = 1 << 20  # numbers in the differences taken at a time
FEW = 0.05  # share of such pairs up to which they are computed one by one

Weigh = Callable[[Array, slice, slice], Array]  # squared distances, their rows and columns -> weights


def complete_graph(X: Array, weigh: Weigh) -> Array:
    """Return n × n weights with zero diagonal; symmetric to the bit, since each pair is computed once."""
    n = X.shape[0]
    squared = SquaredDistances(X, X)
    E = np.empty((n, n), dtype=X.dtype)

    def block(rows: slice) -> None:
        right = slice(rows.start, n)
        part = weigh(squared(rows, right), rows, right)
        size = rows.stop - rows.start
        upper = np.triu(part[:, :size], 1)
        part[:, :size] = upper + upper.T
        E[rows, right] = part
        E[rows.stop :, rows] = part[:, size:].T

    with single_threaded_blas():
        map_blocks(block, split(n, ROWS))
    return E


def cross_graph(X_new: Array, X: Array, weigh: Weigh) -> Array:
    """Return the m × n weights between unseen and training rows."""
    squared = SquaredDistances(X_new, X)
    E = np.empty((X_new.shape[0], X.shape[0]), dtype=X.dtype)

    def block(rows: slice) -> None:
        E[rows] = weigh(squared(rows, slice(None)), rows, slice(None))

    with single_threaded_blas():
        map_blocks(block, split(X_new.shape[0], ROWS))
    return E


class SquaredDistances:
    """Blocks of ‖q_i − x_j‖²: by the expansion, a matrix product, and by differences where it cancels.

    The expansion works on centred rows, so that less cancels; the differences on the rows as given, since
    centring rounds.
    """

    def __init__(self, Q: Array, X: Array) -> None:
        center = X.mean(axis=0, dtype=np.float64)
        self._Q, self._X = Q, X
        self._centered_X = X - center
        self._centered_Q = self._centered_X if Q is X else Q - center

    def __call__(self, rows: slice, columns: slice) -> Array:
        """Return the block of the given rows of Q and rows of X, in float64."""
        q, x = self._centered_Q[rows], self._centered_X[columns]
        norms = np.einsum("ij,ij->i", q, q)[:, None] + np.einsum("ij,ij->i", x, x)
        squared = norms - 2 * (q @ x.T)
        cancelled = squared <= CANCELLED * norms
        if np.count_nonzero(cancelled) > FEW * cancelled.size:
            return cdist(self._Q[rows], self._X[columns], "sqeuclidean")
        self._repair(squared, cancelled, self._Q[rows], self._X[columns])
        return squared

    def _repair(self, squared: Array, cancelled: Array, q: Array, x: Array) -> None:
        i, j = np.nonzero(cancelled)
        for part in split(i.size, max(1, CELLS // x.shape[1])):
            difference = np.subtract(q[i[part]], x[j[part]], dtype=np.float64)
            squared[i[part], j[part]] = np.einsum("ij,ij->i", difference, difference)
