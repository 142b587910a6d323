"""The active set method of Lawson and Hanson."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from symclust._kernels import nnls_active_set
from symclust.nnls._arrays import prepare

__all__ = ["active_set"]


def active_set(
    G: ArrayLike, R: ArrayLike, X: ArrayLike | None = None, *, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Solve min ½ xᵀGx − rᵀx over x ≥ 0 for every row r of R, letting in one variable at a time.

    The variable with the most negative multiplier y = Gx − r (in units of √G_jj) enters the passive set F; x
    then moves to the minimiser on F, and variables that reach zero on the way leave. The objective falls with
    every step. Cheap where few variables are positive; with many, `block_pivoting` needs far fewer
    factorizations.

    Parameters
    ----------
    G : array-like of shape (k, k)
        Symmetric positive semidefinite; may be singular.
    R : array-like of shape (n, k)
        Right-hand sides, one a row.
    X : array-like of shape (n, k), optional
        Where to start; negative entries count as zero. By default every row starts at zero.
    out : ndarray of shape (n, k), optional
        Where to put the solution; may be `X` itself.

    Returns
    -------
    X : ndarray of shape (n, k)
        The solutions: float32 if G and R are, otherwise float64.

    Notes
    -----
    Where G is singular, the passive set holds independent variables only, so the solution is one of several.
    If an entering variable depends on F, x moves along the line on which Gx stays the same; if nothing ends
    that line, the row's problem is unbounded below and the variable stays at zero. NaN and infinity are not
    looked for.

    References
    ----------
    C. L. Lawson and R. J. Hanson, Solving Least Squares Problems, Prentice-Hall (1974), chapter 23.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.nnls import active_set
    >>> G = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> active_set(G, [[3.0, 3.0], [4.0, 1.0], [-1.0, -1.0]])
    array([[1., 1.],
           [2., 0.],
           [0., 0.]])
    """
    G, R, X, out = prepare(G, R, X, out)
    nnls_active_set(G, R, X, out)
    return out
