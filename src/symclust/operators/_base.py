"""The operations of every form of A, derived slowly but rightly from its product alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from symclust._threads import cached_property, map_blocks, single_threaded_blas, split
from symclust._types import Array
from symclust.exceptions import InputError
from symclust.operators._arrays import as_index, as_pairs, as_subset, as_vector
from symclust.operators._eigen import eigenpairs

if TYPE_CHECKING:
    from symclust.operators._factors import FactoredSum

BLOCK_BYTES = 8 << 20  # size of the dense row blocks that are worked on one at a time


# Of A = XXᵀ, X sparse, swept over through XᵀH: 1.9 to 2.4 for TDT2 with 10 to 60 columns.
FACTORED_COST = 2.0


class Operator(ABC):
    """A symmetric n x n similarity A, seen through products.

    A subclass needs `_product`; whatever else it can do faster than here it overrides. An operator known by
    its product alone is taken to be symmetric: its rows are read as its columns. Arrays that an operator
    holds must not be changed afterwards: what takes a pass over A, such as its norm, is computed once.

    Parameters
    ----------
    n : int
        Number of rows, at least one.
    dtype : dtype
        ``float32`` or ``float64``.

    Attributes
    ----------
    is_dense : bool
        A is held as the n x n array ``array``.
    is_sparse : bool
        A is held as CSR in ``indptr``, ``indices`` and ``values``.
    is_streamed : bool
        A is read as CSR in blocks of rows, by ``blocks`` and ``with_rows``.
    is_remote : bool
        A lies in the memory of other machines: every product and every choice of rows is a message to them.
    on_device : bool
        Products are made on a device, where factors live too: see `to_device`.
    names : list or None
        Names of the rows in messages: the nodes of the graph that A was read from.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import Operator
    >>> class Identity(Operator):
    ...     def _product(self, H):
    ...         return H.copy()
    >>> eye = Identity(3, np.float64)
    >>> (eye @ np.array([1.0, 2.0, 3.0])).tolist(), eye.squared_norm()
    ([1.0, 2.0, 3.0], 3.0)
    """

    is_dense: ClassVar[bool] = False
    is_sparse: ClassVar[bool] = False
    is_streamed: ClassVar[bool] = False
    is_remote: bool = False
    on_device: ClassVar[bool] = False
    # Whether `_rows` may run in the pool. The default computes products, which may use the pool themselves:
    # waiting for the pool from inside it would never end.
    _rows_are_thread_safe: bool = False
    # Cost, in products, of a sweep by products with and diagonal blocks of some rows at a time.
    _blocks_cost: float = 1.0
    names: list[Any] | None = None
    # ndarray @ operator must fail with a clear TypeError instead of looping over rows as objects.
    __array_ufunc__ = None

    def __init__(self, n: int, dtype: Any) -> None:
        if n < 1:
            raise InputError("An operator needs at least one row, got a matrix of shape (0, 0).")
        self.n = int(n)
        self.dtype = np.dtype(dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """The pair (n, n)."""
        return (self.n, self.n)

    @property
    def matrix(self) -> Any:
        """A as the array, sparse array or tensor that it is held as; the operator itself otherwise."""
        return self

    @property
    def is_stored(self) -> bool:
        """Whether `matrix` is an array or a sparse array in memory."""
        return self.is_dense or self.is_sparse

    @property
    def rows_are_cheap(self) -> bool:
        """Whether a block of rows costs less than a product with the whole of A, as row descent needs it."""
        return self._rows_are_thread_safe

    @property
    def sweep_cost(self) -> float:
        """Cost of a sweep over all rows, in products with as many columns, as measured.

        1 if entries are stored; infinite if rows have to be made of products. The rows' own k x k problems
        are not in it.
        """
        if not self.rows_are_cheap:
            return np.inf
        return FACTORED_COST if self.factored else self._blocks_cost

    @property
    def factored(self) -> FactoredSum | None:
        """A as a sparse matrix times its transpose plus another sparse one, if it is known as such."""
        return None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.n} x {self.n} {self.dtype}>"

    def _as_parts(self, *parts: Operator) -> None:
        """Have the costs, and the place, of the operators that this one is made of."""
        self._rows_are_thread_safe = all(part._rows_are_thread_safe for part in parts)
        self.is_remote = any(part.is_remote for part in parts)
        self._blocks_cost = max(part._blocks_cost for part in parts)

    @abstractmethod
    def _product(self, H: Array) -> Array:
        """A @ H for a C-contiguous (n, w) array of the operator's dtype, likewise C-contiguous."""

    def __matmul__(self, H: Any) -> Array:
        """A @ H for a vector or an (n, w) array."""
        H = np.asarray(H)
        self._check_factor(H.shape)
        columns = np.ascontiguousarray(H.reshape(self.n, -1), dtype=self.dtype)
        return self._product(columns).reshape(H.shape)

    def _check_factor(self, shape: tuple[int, ...]) -> None:
        if len(shape) not in (1, 2) or shape[0] != self.n:
            raise InputError(
                f"Cannot multiply an operator of shape {self.shape} with an array of shape {shape}: "
                f"expected ({self.n},) or ({self.n}, w)."
            )

    def to_device(self, H: Any) -> Any:
        """A factor or vector in the form, and at the place, in which solvers keep it: as it is."""
        return H

    def from_device(self, H: Any) -> Any:
        """A factor from `to_device`, or one made of it, as a NumPy array."""
        return H

    def sides(self, H: Array) -> tuple[Array, ...]:
        """Views of the rows of H, one for each kind of things that rows stand for."""
        return (H,)

    def matvec(self, x: Array) -> Array:
        """A @ x for one vector of the operator's dtype, for a caller that has one thread to spend."""
        return self @ x

    # Rows ---------------------------------------------------------------------------------------------------

    def _rows(self, index: Any) -> Array:
        """A[index] for a slice of step 1 or an integer array."""
        index = np.arange(self.n)[index]
        unit = np.zeros((self.n, index.size), dtype=self.dtype)
        unit[index, np.arange(index.size)] = 1
        return np.ascontiguousarray(self._product(unit).T)

    def rows(self, index: Any) -> Array:
        """A[index] as a dense (m, n) array, for a slice, integers or a mask.

        Do not write into the result: it may be a view.
        """
        with single_threaded_blas():
            return self._rows(as_index(index, self.n))

    def row(self, i: int) -> Array:
        """Row i as a new array."""
        return np.array(self.rows([i])[0])

    def _block_size(self) -> int:
        return max(1, min(self.n, BLOCK_BYTES // (self.n * self.dtype.itemsize)))

    def row_blocks(self, size: int | None = None) -> Iterator[tuple[slice, Array]]:
        """Yield ``(rows, A[rows])`` in order; blocks of `size` rows, by default of about 8 MB."""
        for rows in split(self.n, size or self._block_size()):
            yield rows, self.rows(rows)

    def visit(self, ids: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Yield ``(block, places, ids)`` for the rows `ids` in the order given.

        Row ``places[e]`` of the block is row ``ids[e]`` of A. About 8 MB of rows are made at a time.
        """
        for part in split(ids.size, self._block_size()):
            yield np.ascontiguousarray(self.rows(ids[part])), np.arange(part.stop - part.start), ids[part]

    def block(self, rows: slice) -> Array:
        """The dense diagonal block A[rows, rows]."""
        return self.rows(rows)[:, rows]

    def entries(self, rows: Any, columns: Any) -> Array:
        """Entries a_ij for paired arrays of row and column numbers."""
        rows, columns = as_pairs(rows, columns, self.n)
        values = np.empty(rows.size, dtype=self.dtype)
        for part in split(rows.size, self._block_size()):
            needed, place = np.unique(rows[part], return_inverse=True)
            values[part] = self.rows(needed)[place, columns[part]]
        return values

    def _rows_product(self, rows: slice, H: Array) -> Array:
        with single_threaded_blas():
            return np.matmul(self._rows(rows), H)

    def row_products(self, H: Array) -> Cursor:
        """A cursor for sweeps that change H row block by row block.

        ``cursor.product(rows)`` is A[rows] @ H for the current H, with slices as `_threads.split` makes them;
        after a change of ``H[rows]`` in place by `delta`, call ``cursor.update(rows, delta)``.
        Make a new cursor for each sweep or every few: those that carry sums forward (gram, low rank) gather
        rounding errors.
        """
        return Cursor(self, H)

    def combine_rows(self, ids: Array, weights: Array) -> Array:
        """The sum of the rows `ids`, each times its weight: A times a vector with few nonzeros.

        With weights in several columns, a sum for each: A times a block of columns with few nonzero rows.
        """
        weights = np.asarray(weights, dtype=self.dtype)
        columns = np.zeros((self.n, *weights.shape[1:]), dtype=self.dtype)
        columns[ids] = weights
        return self @ columns

    # Sums over all entries ----------------------------------------------------------------------------------

    def diagonal(self) -> Array:
        """The n diagonal entries."""
        return np.concatenate([block[:, rows].diagonal() for rows, block in self.row_blocks()])

    def degrees(self) -> Array:
        """The row sums A @ 1; computed once."""
        return self._degrees.copy()

    def sums_in_double(self) -> Array:
        """The row sums, accumulated in float64 if entries are stored one by one."""
        return self.degrees()

    @cached_property
    def _degrees(self) -> Array:
        return self @ np.ones(self.n)

    def isolated(self) -> Array:
        """A mask of the rows without entries, found almost surely: they make 0 of random numbers."""
        return np.abs(self @ np.random.default_rng(0).uniform(1, 2, self.n)) <= self._rounding()

    def _rounding(self) -> Any:
        """Largest product, by rounding, of a row without entries with numbers from 1 to 2."""
        return 0.0

    def mean(self) -> float:
        """The mean of the entries, in float64, without those that are zero whatever the data are."""
        return float(np.sum(self.degrees(), dtype=np.float64)) / self.n**2

    def squared_norm(self) -> float:
        """The sum of squared entries, accumulated in float64; computed once."""
        return self._squared_norm

    @cached_property
    def _squared_norm(self) -> float:
        return self._sum_of_squares()

    def _sum_of_squares(self) -> float:
        return float(sum(self._map_row_blocks(sum_of_squares)))

    def refuse_nonfinite(self) -> None:  # noqa: B027 - most have nothing to name
        """Refuse entries that have become NaN or infinite, by file and place if there is a file."""

    def largest(self) -> float:
        """The largest entry."""
        return float(max(self._map_row_blocks(np.max)))

    def _map_row_blocks(self, function: Callable[[Array], Any]) -> list[Any]:
        if not self._rows_are_thread_safe:
            return [function(block) for _, block in self.row_blocks()]
        with single_threaded_blas():
            return map_blocks(lambda rows: function(self._rows(rows)), split(self.n, self._block_size()))

    def share_of_zeros(self) -> float:
        """The share of entries that are zero."""
        return 1 - sum(self._map_row_blocks(np.count_nonzero)) / max(1, self.n * self.n)

    def is_nonnegative(self) -> bool:
        """Whether no entry is negative; stops at the first block that has one."""
        return self.negative_entry() is None

    def negative_entry(self) -> tuple[int, int] | None:
        """Row and column of a negative entry, None if there is none."""
        for rows, block in self.row_blocks():
            i, j = np.unravel_index(block.argmin(), block.shape)
            if block[i, j] < 0:
                return rows.start + int(i), int(j)
        return None

    def asymmetry(self) -> float:
        """Largest difference of a_ij and a_ji; 0.0 if A is symmetric by construction."""
        return self._worst_gap[0]

    def asymmetric_entry(self) -> tuple[int, int]:
        """The i and j for which a_ij and a_ji differ most."""
        return self._worst_gap[1]

    @cached_property
    def _worst_gap(self) -> tuple[float, tuple[int, int]]:
        worst, where = 0.0, (0, 0)
        for rows, block in self.row_blocks():
            unit = np.zeros((self.n, block.shape[0]), dtype=self.dtype)
            unit[rows] = np.eye(block.shape[0])
            gaps = np.abs(self._product(unit).T - block)
            i, j = np.unravel_index(gaps.argmax(), gaps.shape)
            if gaps[i, j] > worst:
                worst, where = float(gaps[i, j]), (rows.start + int(i), int(j))
        return worst, where

    # New operators ------------------------------------------------------------------------------------------

    def submatrix(self, index: Any) -> Operator:
        """The operator A[index][:, index]; each row is chosen at most once."""
        return Restricted(self, np.arange(self.n)[as_subset(index, self.n)])

    def scaled(self, d: Any) -> Operator:
        """The operator diag(d) A diag(d)."""
        return ScaledOperator(self, as_vector(d, self.n, self.dtype, "d"))

    def without(self, mask: Any) -> Operator:
        """The operator with zeros wherever the symmetric sparse `mask` is nonzero."""
        from symclust.operators.masked import Masked

        return Masked(self, mask)

    # Spectrum -----------------------------------------------------------------------------------------------

    def leading(self, k: int) -> tuple[Array, Array]:
        """The k largest eigenvalues and their eigenvectors as near as a start needs them."""
        return self.eigsh(k)

    def eigsh(self, k: int, which: str = "LA", tol: float = 0.0) -> tuple[Array, Array]:
        """The k eigenvalues, in descending order, and their eigenvectors as columns.

        Up to 800 rows, of a dense array up to 3,000, they are those of LAPACK. Beyond, Lanczos iterations
        find them; if eigenvalues lie too close together for these, the result is as near as a block method
        comes, with a `NotConvergedWarning` that names the residual.

        Parameters
        ----------
        k : int
            How many; below n, unless A is a dense array or has at most 800 rows.
        which : {"LA", "SA", "LM"}
            Largest, smallest, or largest by absolute value.
        tol : float
            Relative accuracy of the eigenvalues; 0 means machine precision.
        """
        return eigenpairs(self, k, which, tol)

    def toarray(self) -> Array:
        """A as a dense array of n x n numbers; meant for small n."""
        return np.array(self.rows(slice(0, self.n)))


class Cursor:
    """Follows an array H that its owner changes in place; here each product is computed anew from H."""

    def __init__(self, operator: Operator, H: Array) -> None:
        if H.ndim != 2 or H.shape[0] != operator.n or H.dtype != operator.dtype or not H.flags.c_contiguous:
            order = "C-contiguous" if H.flags.c_contiguous else "not C-contiguous"
            raise InputError(
                f"Row products of {operator!r} follow H in place: expected a C-contiguous {operator.dtype} "
                f"array of shape ({operator.n}, w), got {H.dtype}, shape {H.shape}, {order}."
            )
        self._operator: Any = operator
        self._H = H

    def product(self, rows: slice) -> Array:
        """A[rows] @ H for the current H."""
        return self._operator._rows_product(rows, self._H)

    def update(self, rows: slice, delta: Array) -> None:
        """Take into account that H[rows] has just changed by `delta`."""


class CombinedCursor(Cursor):
    """Follows H through the cursors of several operators, whose products `combine` puts together."""

    def __init__(
        self, operators: Sequence[Operator], H: Array, combine: Callable[[slice, list[Array]], Array]
    ) -> None:
        self._cursors = [operator.row_products(H) for operator in operators]
        self._combine = combine

    def product(self, rows: slice) -> Array:
        return self._combine(rows, [cursor.product(rows) for cursor in self._cursors])

    def update(self, rows: slice, delta: Array) -> None:
        for cursor in self._cursors:
            cursor.update(rows, delta)


class Restricted(Operator):
    """The operator on some rows and columns of another; a product still costs one with the whole of it."""

    def __init__(self, operator: Operator, index: Array) -> None:
        super().__init__(index.size, operator.dtype)
        self._operator = operator
        self._index = index
        self._as_parts(operator)

    def _product(self, H: Array) -> Array:
        whole = np.zeros((self._operator.n, H.shape[1]), dtype=self.dtype)
        whole[self._index] = H
        return self._operator._product(whole)[self._index]

    def _rows(self, index: Any) -> Array:
        return self._operator._rows(self._index[index])[:, self._index]

    def submatrix(self, index: Any) -> Restricted:
        """The operator on fewer rows and columns; one restriction, however often it is called."""
        return Restricted(self._operator, self._index[as_subset(index, self.n)])

    def diagonal(self) -> Array:
        return self._operator.diagonal()[self._index]


class ScaledOperator(Operator):
    """The operator diag(d) A diag(d): two scalings of an n x w array around each product."""

    def __init__(self, operator: Operator, d: Array) -> None:
        super().__init__(operator.n, operator.dtype)
        self._operator = operator
        self._d = d
        self._as_parts(operator)

    def _product(self, H: Array) -> Array:
        out = self._operator._product(self._d[:, None] * H)
        out *= self._d[:, None]
        return out

    def _rows(self, index: Any) -> Array:
        return self._d[index][:, None] * self._operator._rows(index) * self._d

    def diagonal(self) -> Array:
        return self._d**2 * self._operator.diagonal()


def sum_of_squares(values: Array) -> float:
    """Sum of squared entries, accumulated in float64; the temporary stays below 1 MB."""
    flat = values.reshape(-1)
    with np.errstate(over="ignore"):  # the sum is then infinite, and refused with words by `check_similarity`
        return float(sum(np.square(flat[part], dtype=np.float64).sum() for part in split(flat.size, 1 << 17)))
