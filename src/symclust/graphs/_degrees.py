"""Degrees of a graph and the scaling by their inverse square roots."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from symclust._threads import split
from symclust._types import Matrix
from symclust.exceptions import InputError

__all__ = ["degrees", "inverse_roots", "scale"]

ROWS = 256  # of a dense matrix scaled at a time: the temporary stays small


def degrees(E: Matrix) -> np.ndarray:
    """Return the row sums of E, accumulated in float64."""
    if sparse.issparse(E):
        return E @ np.ones(E.shape[1])
    return E.sum(axis=1, dtype=np.float64)


def inverse_roots(d: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return d^-1/2, and 0 where a node has no edges.

    Degrees below the smallest normal number of `dtype` have underflowed and count as zero; so the product
    of two roots cannot overflow.
    """
    if not np.isfinite(d).all():
        raise InputError("Similarities contain NaN or infinity: the degrees of the graph are not finite.")
    if (d < 0).any():
        worst = int(np.argmin(d))
        raise InputError(
            f"The normalised cut needs degrees >= 0, but {np.count_nonzero(d < 0)} of {d.size} are negative "
            f"(the smallest, {d[worst]:.3g}, at node {worst}). Use nonnegative similarities, for example by "
            "making the features nonnegative or with affinity='self_tuning', or leave out the normalisation."
        )
    roots = np.zeros(d.shape, dtype=dtype)
    connected = d >= np.finfo(dtype).tiny
    roots[connected] = 1 / np.sqrt(d[connected])
    return roots


def scale(E: Matrix, left: np.ndarray, right: np.ndarray) -> None:
    """Replace e_ij by e_ij left_i right_j in place; with left = right a symmetric E stays so to the bit."""
    if sparse.issparse(E):
        E.data *= np.repeat(left, np.diff(E.indptr)) * right[E.indices]
        return
    for rows in split(E.shape[0], ROWS):
        E[rows] *= left[rows, None] * right
