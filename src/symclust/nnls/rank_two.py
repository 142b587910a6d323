"""Least squares with two columns."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from symclust._kernels import nnls_rank_two
from symclust.exceptions import InputError
from symclust.nnls._arrays import prepare

__all__ = ["rank_two"]


def rank_two(G: ArrayLike, R: ArrayLike, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Solve min ½ xᵀGx − rᵀx over x ≥ 0 for every row r of R, where x has two entries.

    The minimum without bounds is the answer where it is nonnegative; otherwise one of the entries is zero,
    and the better of the two is taken (thesis, Algorithms 4 and 5). All cases are computed for each row and
    one is selected, without branches.

    Parameters
    ----------
    G : array-like of shape (2, 2)
        Symmetric positive semidefinite; may be singular.
    R : array-like of shape (n, 2)
        Right-hand sides, one a row, of any sign.
    out : ndarray of shape (n, 2), optional
        Where to put the solution.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The solutions: float32 if G and R are, otherwise float64.

    Notes
    -----
    Where G is singular the solution has at most one positive entry. An entry whose column of G is zero stays
    zero.

    References
    ----------
    D. Kuang, Nonnegative matrix factorization for clustering (2014), section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.nnls import rank_two
    >>> G = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> rank_two(G, [[3.0, 3.0], [4.0, 1.0], [-1.0, -1.0]]).round(12)
    array([[1., 1.],
           [2., 0.],
           [0., 0.]])
    """
    G, R, _, out = prepare(G, R, None, out)
    if G.shape[0] != 2:
        raise InputError(f"G has shape {G.shape}; expected (2, 2). Use block_pivoting for more columns.")
    nnls_rank_two(G, R, out)
    return out
