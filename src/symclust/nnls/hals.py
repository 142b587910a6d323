"""Sweeps of cyclic coordinate descent (HALS)."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from symclust._kernels import nnls_hals
from symclust.exceptions import OptionError
from symclust.nnls._arrays import prepare

__all__ = ["hals"]


def hals(
    G: ArrayLike, R: ArrayLike, X: ArrayLike, n_sweeps: int = 1, *, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Lower ½ xᵀGx − rᵀx for every row x of X by sweeps over its entries.

    A sweep sets x_l ← max(0, x_l + (r_l − (Gx)_l) / G_ll) for l = 1, ..., k in turn, each the best value
    while the others stand still. Rows are independent, so this is the column by column update of hierarchical
    alternating least squares, done a row at a time for locality. An entry that stays where it is costs O(1),
    one that moves O(k).

    Parameters
    ----------
    G : array-like of shape (k, k)
        Symmetric positive semidefinite; may be singular.
    R : array-like of shape (n, k)
        Right-hand sides, one a row.
    X : array-like of shape (n, k)
        Where to start; negative entries count as zero.
    n_sweeps : int, default=1
        Number of sweeps.
    out : ndarray of shape (n, k), optional
        Where to put the result; ``out=X`` updates X in place.

    Returns
    -------
    X : ndarray of shape (n, k)
        The updated points: float32 if G and R are, otherwise float64.

    Notes
    -----
    Where G_ll = 0 the objective is linear in x_l. If r_l < 0 the entry becomes 0; if r_l ≥ 0 it keeps its
    value: in particular one at 0 stays there, although r_l > 0 makes the problem unbounded below.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.nnls import hals
    >>> G = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> hals(G, [[3.0, 3.0], [4.0, 1.0]], np.zeros((2, 2)))
    array([[1.5 , 0.75],
           [2.  , 0.  ]])
    >>> hals(G, [[3.0, 3.0], [4.0, 1.0]], np.zeros((2, 2)), n_sweeps=30).round(6)
    array([[1., 1.],
           [2., 0.]])
    """
    if n_sweeps < 0:
        raise OptionError(f"n_sweeps={n_sweeps}; expected 0 or more sweeps.")
    G, R, X, out = prepare(G, R, X, out)
    nnls_hals(G, R, X, out, n_sweeps)
    return out
