"""Block principal pivoting."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from symclust._kernels import nnls_block_pivoting
from symclust.nnls._arrays import prepare

__all__ = ["block_pivoting"]


def block_pivoting(
    G: ArrayLike, R: ArrayLike, X: ArrayLike | None = None, *, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Solve min ½ xᵀGx − rᵀx over x ≥ 0 for every row r of R, exchanging all infeasible variables at once.

    Each row keeps a passive set F. It solves G_FF x_F = r_F, computes y = Gx − r elsewhere, and moves every
    variable with x < 0 out of F and every one with y < 0 into it, until there are none. When three such
    exchanges in a row do not lower the number of infeasible variables, only the one with the largest index is
    exchanged, which cannot cycle. An exchange costs O(|F|³ + |F| k) a row.

    Parameters
    ----------
    G : array-like of shape (k, k)
        Symmetric positive semidefinite; may be singular.
    R : array-like of shape (n, k)
        Right-hand sides, one a row.
    X : array-like of shape (n, k), optional
        Where to start: only where it is positive matters. A good start makes one exchange or none enough.
        Rows without a positive entry, and all rows by default, start from the support that three sweeps of
        coordinate descent find.
    out : ndarray of shape (n, k), optional
        Where to put the solution; may be `X` itself.

    Returns
    -------
    X : ndarray of shape (n, k)
        The solutions: float32 if G and R are, otherwise float64.

    Notes
    -----
    Where G is singular, variables that depend on others are left at zero, so the solution is one of several.
    A right-hand side outside the range of G (or a positive one at a zero diagonal entry) can make a row's
    problem unbounded below; its answer is then finite, and means nothing. NaN and infinity are not looked
    for.

    References
    ----------
    J. Kim and H. Park, Fast nonnegative matrix factorization: an active-set-like method and comparisons, SIAM
    J. on Scientific Computing 33 (2011).

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.nnls import block_pivoting
    >>> G = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> block_pivoting(G, [[3.0, 3.0], [4.0, 1.0], [-1.0, -1.0]])
    array([[1., 1.],
           [2., 0.],
           [0., 0.]])
    """
    G, R, X, out = prepare(G, R, X, out)
    nnls_block_pivoting(G, R, X, out)
    return out
