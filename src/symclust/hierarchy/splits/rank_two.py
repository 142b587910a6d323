"""Split by rank-2 NMF."""

from __future__ import annotations

import numpy as np

from symclust._kernels import rank_two_nmf, two_singular_vectors
from symclust._types import Array
from symclust.hierarchy.samples import Samples
from symclust.hierarchy.splits._base import WORTH_THREADS, Halves, Split, halves
from symclust.hierarchy.splits._centres import unit_columns

__all__ = ["RankTwo"]


ONE_SIGN = 1e-4  # of a vector's length: below it, entries of the other sign are rounding
POWER_STEPS = 2  # 8 lead to no better trees, and cost more than they save


class RankTwo(Split):
    """min ‖X − WCᵀ‖² over W, C ≥ 0 with two columns, by alternating least squares (thesis, Algorithm 5).

    An iteration reads X once and Xᵀ once, and ends with a step on in the direction C moved, unless that
    explains less. It stops when the projected gradient (9)-(10) is at most `tol` times that of the first
    point. A sample belongs to the side of the larger of its two entries of W, for columns of C of unit
    length.

    The start comes from the second left singular vector u of X, found by a few steps of orthogonal iteration:
    C = Xᵀ [max(u, 0), max(−u, 0)], sums of the samples on either side. It depends on the random state only
    through the vector that these steps start from.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.hierarchy.samples import Samples
    >>> from symclust.hierarchy.splits import RankTwo
    >>> X = np.array([[1.0, 0.1], [9.0, 0.0], [0.0, 1.0]])
    >>> side = RankTwo()(Samples.of(X), np.random.RandomState(0)).side
    >>> bool(side[0] == side[1] != side[2])
    True
    """

    def __call__(self, samples: Samples, random_state: np.random.RandomState) -> Halves | None:
        """Return the two sides, or None where all samples have one direction."""
        if min(samples.shape) < 2:
            return None
        C = start(samples, random_state)
        if C is None:
            return None
        W = np.empty((samples.shape[0], 2), dtype=samples.dtype)
        n_iter, _, _ = rank_two_nmf(
            *samples.rows, *samples.transposed, C, W, self.tol, self.max_iter, _threads(samples)
        )
        return halves(C, W, n_iter)


def start(samples: Samples, random_state: np.random.RandomState) -> Array | None:
    """Return C (n_features × 2) from the second singular vector; None where X has rank one."""
    n, d = samples.shape
    V = random_state.standard_normal((d, 2)).astype(samples.dtype)
    V[:, 0] = samples.transposed_times(np.ones((n, 1), samples.dtype))[:, 0]
    U = np.empty((n, 2), dtype=samples.dtype)
    a, b, c = two_singular_vectors(*samples.rows, *samples.transposed, V, U, POWER_STEPS, _threads(samples))
    squared, Q = np.linalg.eigh([[a, b], [b, c]])  # squared singular values, the lower first
    if squared[0] <= 100 * np.finfo(samples.dtype).eps * squared[1]:
        return None
    first, second = (U @ Q[:, [1, 0]].astype(samples.dtype)).T
    sides = np.stack([np.maximum(second, 0), np.maximum(-second, 0)], axis=1)
    # Parts without a common feature have a singular vector each, of one sign: the other side is the first's.
    lengths = np.linalg.norm(sides, axis=0)
    sides[:, lengths <= ONE_SIGN * lengths.max()] = np.abs(first)[:, None]
    return unit_columns(samples.transposed_times(sides))


def _threads(samples: Samples) -> int:
    return 0 if samples.nnz >= WORTH_THREADS else 1  # 0: all
