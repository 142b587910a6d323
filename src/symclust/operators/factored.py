"""A = diag(s) X diag(w) Xᵀ diag(s), never formed: inner products, cosines, and matrices of low rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from symclust._threads import cached_property, single_threaded_blas, split
from symclust._types import Array, RandomState, SimilarityLike
from symclust.exceptions import InputTypeError, OptionError
from symclust.operators._arrays import as_pairs, as_subset, as_vector, read_dense
from symclust.operators._base import BLOCK_BYTES, Cursor, Operator
from symclust.operators._conversion import as_operator
from symclust.operators._eigen import random_range
from symclust.operators._factors import DenseFactor, Factor, FactoredSum, SparseFactor, read_factor
from symclust.validation import check_number

__all__ = ["Gram", "LowRank", "low_rank"]


class Factored(Operator):
    """A = diag(scale) X diag(weights) Xᵀ diag(scale), with or without its diagonal.

    A product costs two with X; no n x n array is formed.
    """

    _rows_are_thread_safe = True

    def __init__(
        self, factor: Factor, scale: Any = None, weights: Any = None, self_edges: bool = True
    ) -> None:
        n, d = factor.shape
        super().__init__(n, factor.X.dtype)
        self._factor = factor
        self._scale = np.ones(n, self.dtype) if scale is None else as_vector(scale, n, self.dtype, "scale")
        self._weights = (
            np.ones(d, self.dtype) if weights is None else as_vector(weights, d, self.dtype, "weights")
        )
        self.self_edges = bool(self_edges)
        self._blocks_cost = factor.blocks_cost

    def _like(self, factor: Factor, scale: Array) -> Factored:
        """An operator of the same class with other rows or another scale."""
        other = object.__new__(type(self))
        Factored.__init__(other, factor, scale, self._weights, self.self_edges)
        return other

    @cached_property
    def _full_diagonal(self) -> Array:
        # a_ii = s_i² Σ_p w_p x_ip², before self-edges are removed; float64, since norms subtract its squares.
        parts = [self._dots(rows, rows) for rows in split(self.n, self._factor.rows_at_once(BLOCK_BYTES))]
        return np.concatenate(parts)

    def _dots(self, i: Any, j: Any) -> Array:
        left = self._factor.take(i).columns_scaled(self._weights)
        scale = self._scale[i].astype(np.float64) * self._scale[j]
        return scale * left.row_dots(self._factor.take(j))

    def _inward(self, H: Array) -> Array:
        return self._factor.inward(self._scale, self._weights, H)

    def _outward(self, rows: slice, Z: Array, H: Array) -> Array:
        """A[rows] @ H from Z."""
        out = self._factor.take(rows).times(Z)
        out *= self._scale[rows, None]
        if not self.self_edges:
            out -= self._full_diagonal[rows, None].astype(self.dtype) * H[rows]
        return out

    def _product(self, H: Array) -> Array:
        return self._outward(slice(0, self.n), self._inward(H), H)

    def _rows(self, index: Any) -> Array:
        out = self._factor.take(index).columns_scaled(self._weights).outer(self._factor)
        out *= self._scale
        out *= self._scale[index][:, None]
        if not self.self_edges:
            out[np.arange(out.shape[0]), np.arange(self.n)[index]] = 0
        return out

    def block(self, rows: slice) -> Array:
        part = self._factor.take(rows)
        with single_threaded_blas():
            out = part.columns_scaled(self._weights).outer(part)
        out *= self._scale[rows]
        out *= self._scale[rows, None]
        if not self.self_edges:
            np.fill_diagonal(out, 0)
        return out

    def entries(self, rows: Any, columns: Any) -> Array:
        i, j = as_pairs(rows, columns, self.n)
        values = np.empty(i.size, dtype=self.dtype)
        for part in split(i.size, self._factor.rows_at_once(BLOCK_BYTES)):
            values[part] = self._dots(i[part], j[part])
        return values if self.self_edges else np.where(i == j, self.dtype.type(0), values)

    def row_products(self, H: Array) -> Cursor:
        """A cursor that keeps the d x w array Z up to date: a sweep costs two passes over X."""
        return FactoredCursor(self, H)

    @cached_property
    def factored(self) -> FactoredSum | None:
        """A itself if X is sparse; the self-edges that are left out are what has to be added."""
        if not isinstance(self._factor, SparseFactor):
            return None
        removed = np.zeros(self.n) if self.self_edges else -self._full_diagonal
        E = sp.csr_array(sp.diags_array(removed.astype(self.dtype)))
        E.eliminate_zeros()
        return FactoredSum(self._factor, self._scale, self._weights, E)

    def diagonal(self) -> Array:
        return self._full_diagonal.astype(self.dtype) if self.self_edges else np.zeros(self.n, self.dtype)

    def _rounding(self) -> Any:
        # The diagonal is subtracted from what the product makes of it: a sum over the entries of a row of X.
        if self.self_edges:
            return 0.0
        terms = self._factor.stored.size // self.n
        return 4 * max(8, terms) * np.finfo(self.dtype).eps * np.abs(self._full_diagonal)

    def _sum_of_squares(self) -> float:
        """‖A‖² from XᵀX if that is cheaper than XXᵀ."""
        scale, weights = self._scale.astype(np.float64), self._weights.astype(np.float64)
        if not self._factor.columns_are_cheaper():
            return self._factor.squared_outer(scale, weights, self.self_edges)
        total = self._factor.squared_gram(scale**2, weights)
        return total if self.self_edges else max(0.0, total - float((self._full_diagonal**2).sum()))

    def largest(self) -> float:
        """The largest entry, on the diagonal if A is positive semidefinite: a_ij² ≤ a_ii a_jj."""
        if self.self_edges and self._weights.min(initial=0) >= 0:
            return float(self.diagonal().max())
        return super().largest()

    def share_of_zeros(self) -> float:
        """None: inner products of all pairs are rarely zero, and would have to be computed to be counted."""
        return 0.0

    def is_nonnegative(self) -> bool:
        """Whether no entry is negative; known at once if X, scale and weights have no negative entry."""
        vectors = self._scale.min() >= 0 and self._weights.min(initial=0) >= 0
        return (bool(vectors) and self._factor.is_nonnegative()) or super().is_nonnegative()

    def asymmetry(self) -> float:
        return 0.0

    def submatrix(self, index: Any) -> Factored:
        index = as_subset(index, self.n)
        return self._like(self._factor.take(index), self._scale[index])

    def scaled(self, d: Any) -> Factored:
        return self._like(self._factor, self._scale * as_vector(d, self.n, self.dtype, "d"))


class FactoredCursor(Cursor):
    """Follows H through Z = diag(w) Xᵀ diag(s) H."""

    def __init__(self, operator: Factored, H: Array) -> None:
        super().__init__(operator, H)
        self._Z = operator._inward(H)

    def product(self, rows: slice) -> Array:
        return self._operator._outward(rows, self._Z, self._H)

    def update(self, rows: slice, delta: Array) -> None:
        A = self._operator
        A._factor.take(rows).add_transposed(A._scale[rows, None] * delta, A._weights, self._Z)


class Gram(Factored):
    """A = diag(s) X Xᵀ diag(s), with or without its diagonal.

    With s_i = 1/‖x_i‖ the entries are cosine similarities (symnmf (21)). A product is X (Xᵀ H) and costs two
    passes over X; no n x n array is formed. Without self-edges the diagonal is subtracted from the product,
    so that a product of nonnegative X and H may come out negative by rounding.

    Parameters
    ----------
    X : array or SciPy sparse array of shape (n, d)
        One row per object. A sparse X is also kept transposed once a product is taken.
    scale : array of shape (n,), optional
        The row scaling s; ones by default.
    self_edges : bool, default=True
        With False the diagonal of A is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import Gram
    >>> X = np.array([[3.0, 4.0], [4.0, 3.0], [0.0, 2.0]])
    >>> cosine = Gram(X, scale=1 / np.linalg.norm(X, axis=1), self_edges=False)
    >>> cosine.toarray().round(2).tolist()
    [[0.0, 0.96, 0.8], [0.96, 0.0, 0.6], [0.8, 0.6, 0.0]]
    """

    def __init__(self, X: Any, scale: Any = None, self_edges: bool = True) -> None:
        super().__init__(read_factor(X), scale=scale, self_edges=self_edges)


class LowRank(Factored):
    """A = U diag(s) Uᵀ: a truncated eigendecomposition, or any signed sum of outer products.

    Parameters
    ----------
    U : array of shape (n, r)
        Columns need not be orthogonal.
    s : array of shape (r,), optional
        Weights of the columns, of any sign; ones by default.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import LowRank
    >>> A = LowRank(np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([2.0, -1.0]))
    >>> A.toarray().tolist()
    [[1.0, 3.0], [3.0, 1.0]]
    """

    def __init__(self, U: Any, s: Any = None) -> None:
        if not isinstance(U, np.ndarray):
            raise InputTypeError(
                f"U must be a NumPy array, got {type(U).__name__}; for sparse factors use Gram."
            )
        super().__init__(DenseFactor(read_dense(U)), weights=s)


def low_rank(A: SimilarityLike, rank: int, *, n_passes: int = 2, random_state: RandomState = 0) -> LowRank:
    """Approximate A by a matrix of low rank from a few products with random columns.

    Q spans the range of AᵖΩ, Ω random with a few more than `rank` columns; the eigenvectors of QᵀAQ with the
    largest eigenvalues in size then stand for those of A. ‖A − USUᵀ‖² = ‖A‖² − ‖S‖² says how good it is.

    Parameters
    ----------
    A : array, sparse array, graph or Operator
        Anything that `as_operator` takes; only products with it are needed.
    rank : int
        How many eigenvectors to keep, at most n.
    n_passes : int, default=2
        The power p. More of them separate eigenvalues that are close in size.
    random_state : int, RandomState or None, default=0
        Makes Ω repeatable.

    Returns
    -------
    L : LowRank
        Its entries may be negative even if those of A are not.

    Notes
    -----
    A is multiplied ``n_passes + 1`` times with ``rank + 10`` columns. Besides, QR factorizations cost
    n (rank + 10)².

    References
    ----------
    N. Halko, P.-G. Martinsson and J. A. Tropp, Finding structure with randomness: probabilistic algorithms
    for constructing approximate matrix decompositions, SIAM Review 53 (2011), Algorithms 4.4 and 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import low_rank
    >>> A = np.kron(np.eye(2), np.ones((3, 3)))
    >>> low_rank(A, 2).toarray().round(3).tolist() == A.tolist()
    True
    """
    operator = as_operator(A)
    rank = _check_rank(rank, operator.n)
    check_number("n_passes", n_passes, least=1, whole=True)
    values, vectors = random_range(operator, rank, n_passes, check_random_state(random_state))
    return LowRank(vectors, values.astype(operator.dtype))


def _check_rank(rank: Any, n: int) -> int:
    check_number("rank", rank, least=1, whole=True)
    if rank > n:
        raise OptionError(f"rank={rank} is not possible for {n} samples: give a number from 1 to {n}.")
    return int(rank)
