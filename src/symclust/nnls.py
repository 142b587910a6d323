"""Nonnegative least squares from normal equations, for many right-hand sides.

Every method takes G (k × k, symmetric positive semidefinite) and R (n × k, one right-hand side per row) and
works on

    min over x ≥ 0 of ½ xᵀGx − rᵀx,

the problem min ‖Cx − b‖² with G = CᵀC and r = Cᵀb (thesis, section 3.4; symnmf, section 6.3). A solution
satisfies x ≥ 0, y = Gx − r ≥ 0 and xᵀy = 0. If G is singular there are several, and variables that depend on
others are left at zero. A right-hand side outside the range of G can make the problem of a row unbounded
below; its answer is finite, and means nothing. NaN and infinity are not looked for. Results are float32 if G
and R are, otherwise float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symclust._kernels import nnls_active_set, nnls_block_pivoting, nnls_hals, nnls_rank_two
from symclust._types import DeviceArray
from symclust.exceptions import InputError, OptionError

__all__ = ["active_set", "block_pivoting", "hals", "rank_two"]

Arrays = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


def active_set(
    G: ArrayLike, R: ArrayLike, X: ArrayLike | None = None, *, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Solve the problem for every row r of R, letting in one variable at a time.

    The variable with the most negative multiplier y = Gx − r (in units of √G_jj) enters the passive set F; x
    then moves to the minimiser on F, and variables that reach zero on the way leave. The objective falls with
    every step. Cheap if few variables are positive; with many, `block_pivoting` needs far fewer
    factorizations. If an entering variable depends on F, x moves along the line on which Gx stays the same.

    Parameters
    ----------
    G, R : array-like of shape (k, k) and (n, k)
        Matrix, and right-hand sides as rows.
    X : array-like of shape (n, k), optional
        The points to start from; negative entries count as zero. By default every row starts at zero.
    out : ndarray of shape (n, k), optional
        The array that takes the solutions; may be `X` itself.

    Returns
    -------
    X : ndarray of shape (n, k)
        The solutions.

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
    G, R, X, out = _prepare(G, R, X, out)
    nnls_active_set(G, R, X, out)
    return out


def block_pivoting(
    G: ArrayLike, R: ArrayLike, X: ArrayLike | None = None, *, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Solve the problem for every row r of R, exchanging all infeasible variables at once.

    Each row keeps a passive set F. It solves G_FF x_F = r_F, computes y = Gx − r elsewhere, and moves every
    variable with x < 0 out of F and every one with y < 0 into it, until there are none. When three such
    exchanges in a row do not lower the number of infeasible variables, only the one with the largest index is
    exchanged, which cannot cycle. With f passive variables an exchange costs O(f³ + fk) per row.

    Parameters
    ----------
    G, R : array-like of shape (k, k) and (n, k)
        Matrix, and right-hand sides as rows.
    X : array-like of shape (n, k), optional
        The points to start from: only the places of positive entries matter. From a good start one exchange
        or none is enough. Rows without a positive entry, and all rows by default, start from the support that
        three sweeps of coordinate descent find.
    out : ndarray of shape (n, k), optional
        The array that takes the solutions; may be `X` itself.

    Returns
    -------
    X : ndarray of shape (n, k)
        The solutions.

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
    G, R, X, out = _prepare(G, R, X, out)
    nnls_block_pivoting(G, R, X, out)
    return out


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
    G, R : array-like of shape (k, k) and (n, k)
        Matrix, and right-hand sides as rows.
    X : array-like of shape (n, k)
        The points to start from; negative entries count as zero.
    n_sweeps : int, default=1
        Number of sweeps.
    out : ndarray of shape (n, k), optional
        The array that takes the result; ``out=X`` updates X in place.

    Returns
    -------
    X : ndarray of shape (n, k)
        The updated points. If G_ll = 0, the objective is linear in x_l: the entry becomes 0 if r_l < 0, and
        keeps its value otherwise.

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
    if isinstance(R, DeviceArray):
        return _hals_by_columns(G, R, X, n_sweeps)
    G, R, X, out = _prepare(G, R, X, out)
    nnls_hals(G, R, X, out, n_sweeps)
    return out


def _hals_by_columns(G: Any, R: Any, X: Any, n_sweeps: int) -> Any:
    """The same by NumPy, all rows at once and column by column: for arrays on a device."""
    X, own = np.maximum(X, 0), np.asarray(G, like=R)
    for _ in range(n_sweeps):
        for l, square in enumerate(np.diag(G).tolist()):
            if square > 0:
                X[:, l] = np.maximum(X[:, l] + (R[:, l] - X @ own[:, l]) / square, 0)
            else:
                X[:, l] *= R[:, l] >= 0
    return X


def rank_two(G: ArrayLike, R: ArrayLike, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Solve the problem for every row r of R, of two entries each.

    The minimum without bounds is the answer if it is nonnegative; otherwise one of the entries is zero, and
    the better of the two is taken (thesis, Algorithms 4 and 5). All cases are computed for each row and one
    is selected, without branches.

    Parameters
    ----------
    G, R : array-like of shape (2, 2) and (n, 2)
        Matrix, and right-hand sides as rows, of any sign.
    out : ndarray of shape (n, 2), optional
        The array that takes the solutions.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The solutions. If G is singular, they have at most one positive entry each.

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
    G, R, _, out = _prepare(G, R, None, out)
    if G.shape[0] != 2:
        raise InputError(f"G has shape {G.shape}; expected (2, 2). Use block_pivoting for more columns.")
    nnls_rank_two(G, R, out)
    return out


def _prepare(G: ArrayLike, R: ArrayLike, X: ArrayLike | None, out: NDArray[Any] | None) -> Arrays:
    """G, R, X and out of one type, in C order, of matching shapes; without `X`, out is zeros.

    Values are not looked at: the cost is that of the shapes alone, since alternating schemes come here in
    every iteration.
    """
    G, R = np.asarray(G), np.asarray(R)
    dtype = np.float32 if G.dtype == R.dtype == np.float32 else np.float64
    G, R = np.ascontiguousarray(G, dtype=dtype), np.ascontiguousarray(R, dtype=dtype)
    if G.ndim != 2 or G.shape[0] != G.shape[1]:
        raise InputError(f"G has shape {G.shape}; expected a square matrix (k, k), such as C.T @ C.")
    if R.ndim != 2 or R.shape[1] != G.shape[0]:
        raise InputError(
            f"R has shape {R.shape}; expected (n, {G.shape[0]}), one right-hand side per row, to go with G."
        )
    if out is None:
        out = np.empty_like(R)
    elif out.shape != R.shape or out.dtype != R.dtype or not (out.flags.c_contiguous and out.flags.writeable):
        raise InputError(
            f"out has shape {out.shape} and dtype {out.dtype}; expected a writeable array in C order "
            f"of shape {R.shape} and dtype {R.dtype}. Leave it out to get a new array."
        )
    if X is None:
        out.fill(0)
        return G, R, out, out
    X = np.ascontiguousarray(X, dtype=dtype)
    if X.shape != R.shape:
        raise InputError(f"X has shape {X.shape}; expected the shape of R, {R.shape}.")
    return G, R, X, out
