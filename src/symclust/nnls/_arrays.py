"""What the methods ask of their arrays, and what they say when it is not so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symclust.exceptions import InputError

__all__ = ["prepare"]

Arrays = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


def prepare(G: ArrayLike, R: ArrayLike, X: ArrayLike | None, out: NDArray[Any] | None) -> Arrays:
    """Return G, R, X and out as the kernels want them: of one type, in C order, of matching shapes.

    float32 stays if both G and R have it; anything else becomes float64. Values are not looked at: the cost
    is that of the shapes alone, since alternating schemes come here in every iteration.
    """
    G, R = np.asarray(G), np.asarray(R)
    dtype = np.float32 if G.dtype == R.dtype == np.float32 else np.float64
    G, R = np.ascontiguousarray(G, dtype=dtype), np.ascontiguousarray(R, dtype=dtype)
    if G.ndim != 2 or G.shape[0] != G.shape[1]:
        raise InputError(f"G has shape {G.shape}; expected a square matrix (k, k), such as C.T @ C.")
    if R.ndim != 2 or R.shape[1] != G.shape[0]:
        raise InputError(
            f"R has shape {R.shape}; expected (n, {G.shape[0]}), one right-hand side a row, to go with G."
        )
    out = _destination(R, out)
    return G, R, _start(R, X, out), out


def _destination(R: NDArray[Any], out: NDArray[Any] | None) -> NDArray[Any]:
    if out is None:
        return np.empty_like(R)
    if out.shape != R.shape or out.dtype != R.dtype or not (out.flags.c_contiguous and out.flags.writeable):
        raise InputError(
            f"out has shape {out.shape} and dtype {out.dtype}; expected a writeable array in C order "
            f"of shape {R.shape} and dtype {R.dtype}. Leave it out to get a new array."
        )
    return out


def _start(R: NDArray[Any], X: ArrayLike | None, out: NDArray[Any]) -> NDArray[Any]:
    if X is None:
        out.fill(0)
        return out
    X = np.ascontiguousarray(X, dtype=R.dtype)
    if X.shape != R.shape:
        raise InputError(f"X has shape {X.shape}; expected the shape of R, {R.shape}.")
    return X
