"""A in blocks of rows that lie with the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from symclust import _kernels
from symclust._optional import need
from symclust._threads import cached_property, split
from symclust._types import Array
from symclust.exceptions import InputError, InputTypeError
from symclust.operators._arrays import as_pairs, as_subset, as_vector, dense_product, read_dense
from symclust.operators._base import Operator, Restricted
from symclust.operators._summary import PIECE, Summarized, Summary
from symclust.operators.dask._blocks import is_dask
from symclust.operators.dask._edges import delay_edges
from symclust.operators.dask._workers import hold_blocks
from symclust.operators.disk._row_blocks import RowBlock
from symclust.operators.sparse import read_csr
from symclust.validation import check_number, float_dtype, is_a

__all__ = ["OnDask"]

PATIENCE = 1800.0  # seconds; the first pass also reads or computes the blocks


class OnDask(Summarized):
    """A symmetric matrix in blocks of rows that the workers of a Dask cluster keep in memory.

    They are the workers of the client in use. Without a client, Dask's threads make the blocks, which stay in
    this process. A product sends H to the workers, or its nonzeros if they take fewer bytes, and brings back
    AH. No block comes to the client.

    Parameters
    ----------
    blocks : Dask array of shape (n, n), or sequence of Delayed
        The chunks of an array, or the rows of A from top to bottom: NumPy arrays or sparse ones, all of them
        dense or all sparse. Chunks side by side are put together by the worker that keeps the rows.
    client : distributed.Client, optional
        Whose workers keep the blocks, if it is another than the one in use.
    timeout : float, default=1800
        Seconds that a pass over all blocks may take, the first of which also makes the blocks. Then a
        `WorkerError` is raised.

    Attributes
    ----------
    n_blocks : int
        Number of blocks of rows.

    Notes
    -----
    A worker that is lost takes its blocks with it. The scheduler has them made again from what they were made
    of, and the pass goes on. That takes the memory of the other workers.

    Sweeps over rows need H after every few rows and are refused; ``solver="auto"`` takes a solver that
    multiplies, `"anls"` and `"hals"` do what they do on one machine.

    Examples
    --------
    >>> import dask.array
    >>> from symclust.operators import OnDask
    >>> A = OnDask(dask.array.eye(6, chunks=2))
    >>> A.n_blocks, A.squared_norm(), (A @ [1, 2, 3, 4, 5, 6]).tolist()
    (3, 6.0, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    """

    is_remote = True
    _why_not_saved = (
        "The similarities lie with the workers of a cluster, and files of models do not hold them. "
        "Save the model without its data: model.save(path, data=False). Once loaded it has its labels and "
        "memberships, but places no new samples."
    )
    _scale: Array | None = None  # d, if the operator is diag(d) A diag(d)
    _unscaled: OnDask | None = None

    def __init__(self, blocks: Any, *, client: Any = None, timeout: float = PATIENCE) -> None:
        check_number("timeout", timeout, least=0, exclusive=True)
        delayed = need("dask", "dask").delayed
        graph = [delayed(prepare)(*parts) for parts in _rows_of_chunks(blocks)]
        self._blocks = hold_blocks(graph, client, timeout)
        shapes, kinds = zip(*self._blocks.map(shape_and_dtype), strict=True)
        n, dtype = _check_described(shapes, kinds)
        super().__init__(n, dtype)
        self._slices = _slices_of([rows for rows, _ in shapes])

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        *,
        weight: Any = "weight",
        duplicates: str = "error",
        n_blocks: int | None = None,
        dtype: Any = np.float64,
        client: Any = None,
        timeout: float = PATIENCE,
    ) -> OnDask:
        """The adjacency matrix of a list of edges that no machine has to hold.

        Parameters
        ----------
        edges : Dask DataFrame, str or PathLike
            A column for each end, such as source and target, and perhaps one of weights; or the path of a
            Parquet file or folder with such columns. Nodes are whole numbers or texts.
        weight : str or None, default="weight"
            The column that holds the weights, as in `network_of_table`.
        duplicates : {"error", "sum", "max", "first"}
            As in `network_of_edges`: the matrix is the same. Loops and edges of weight 0 are dropped.
        n_blocks : int, optional
            Number of blocks of rows; by default that of the partitions of the table.
        dtype : {np.float64, np.float32}
            Type of the entries.
        client, timeout
            As above.

        Returns
        -------
        OnDask
            With `names`, unless nodes are the numbers from 0 on. All names have to fit into the memory of
            each worker.

        Examples
        --------
        >>> import dask.dataframe
        >>> import pandas as pd
        >>> from symclust.operators import OnDask
        >>> edges = pd.DataFrame({"source": ["ann", "bob", "ann"], "target": ["bob", "cem", "cem"]})
        >>> A = OnDask.from_edges(dask.dataframe.from_pandas(edges, npartitions=2))
        >>> A.names, A.degrees().tolist()
        (['ann', 'bob', 'cem'], [2.0, 2.0, 2.0])
        """
        names, blocks = delay_edges(edges, weight, duplicates, n_blocks, float_dtype(dtype))
        held = hold_blocks([names], client, timeout)  # before the blocks, which then find them made
        A = cls(blocks, client=client, timeout=timeout)
        (found,) = held.map(as_it_is)
        counted = found.dtype.kind in "iu" and np.array_equal(found, np.arange(A.n))
        A.names = None if counted else found.tolist()
        return A

    @property
    def n_blocks(self) -> int:
        """How many blocks of rows there are."""
        return len(self._blocks)

    # Products and rows --------------------------------------------------------------------------------------

    def _product(self, H: Array) -> Array:
        d = self._scale
        parts = self._blocks.map(multiply_block, H if d is None else d[:, None] * H)
        out = np.concatenate(parts)
        if d is not None:
            out *= d[:, None]
        return out

    def _ask(self, function: Any, numbers: Array, *others: Array) -> list[tuple[Array, Any]]:
        """Ask workers about some rows; return answers beside the places in `numbers` of these rows."""
        places = [np.flatnonzero((numbers >= own.start) & (numbers < own.stop)) for own in self._slices]
        rows = [numbers[place] - own.start for place, own in zip(places, self._slices, strict=True)]
        rest = [[other[place] for place in places] for other in others]
        return list(zip(places, self._blocks.map(function, None, rows, *rest), strict=True))

    def _rows(self, index: Any) -> Array:
        index = np.arange(self.n)[index]
        out = np.empty((index.size, self.n), dtype=self.dtype)
        for place, found in self._ask(take_rows, index):
            out[place] = found
        if self._scale is not None:
            out *= self._scale
            out *= self._scale[index, None]
        return out

    def entries(self, rows: Any, columns: Any) -> Array:
        rows, columns = as_pairs(rows, columns, self.n)
        out = np.empty(rows.size, dtype=self.dtype)
        for place, found in self._ask(take_entries, rows, columns):
            out[place] = found
        return out if self._scale is None else self._scale[rows] * out * self._scale[columns]

    def block(self, rows: slice) -> Array:
        return self.rows(rows)[:, rows]

    def scaled(self, d: Any) -> OnDask:
        """The operator diag(d) A diag(d); it shares the blocks, and scales around each product."""
        d = as_vector(d, self.n, self.dtype, "d")
        other = object.__new__(OnDask)
        Operator.__init__(other, self.n, self.dtype)
        other._blocks, other._slices, other.names = self._blocks, self._slices, self.names
        other._scale = d if self._scale is None else self._scale * d
        other._unscaled = self if self._unscaled is None else self._unscaled
        return other

    def submatrix(self, index: Any) -> Operator:
        """The operator A[index][:, index]; the workers that have these rows copy the part."""
        index = np.arange(self.n)[as_subset(index, self.n)]
        if self._unscaled is not None and self._scale is not None:
            return self._unscaled.submatrix(index).scaled(self._scale[index])
        other, order = object.__new__(OnDask), np.sort(index)
        Operator.__init__(other, order.size, self.dtype)
        rows = [order[(order >= own.start) & (order < own.stop)] - own.start for own in self._slices]
        chosen = [number for number, some in enumerate(rows) if some.size]
        other._blocks = self._blocks.derive(take_part, order, {number: rows[number] for number in chosen})
        other._slices = _slices_of([rows[number].size for number in chosen])
        return other if np.array_equal(index, order) else Restricted(other, np.searchsorted(order, index))

    # Sums over all entries ----------------------------------------------------------------------------------

    @cached_property
    def _summary(self) -> Summary:
        parts = self._blocks.map(summarize, self._scale, [rows.start for rows in self._slices])
        return Summary.joined(parts)

    def _compare_transposed(self) -> tuple[float, tuple[int, int]]:
        d = np.ones(self.n, dtype=self.dtype) if self._scale is None else self._scale
        table = self._blocks.compare(cut, worst_gap, self._slices, [d[rows] for rows in self._slices])
        found = [
            (gap, self._slices[i].start + a, self._slices[i + k].start + b)
            for i, row in enumerate(table)
            for k, (gap, a, b) in enumerate(row)
        ]
        worst, a, b = max(found)
        return worst, (a, b)


# On the client ----------------------------------------------------------------------------------------------


def _rows_of_chunks(blocks: Any) -> list[list[Any]]:
    """The chunks of each block of rows, from left to right."""
    if is_dask(blocks):
        if blocks.ndim != 2 or (blocks.shape[0] != blocks.shape[1] and not np.isnan(blocks.shape).any()):
            raise InputError(f"A similarity matrix is square; got a Dask array of shape {blocks.shape}.")
        return blocks.to_delayed().tolist()
    if is_a(blocks, "dask", "DataFrame"):
        raise InputTypeError(
            "A Dask DataFrame is taken as a table of edges: OnDask.from_edges(frame). For one that holds "
            "similarities give frame.to_dask_array(lengths=True)."
        )
    if not isinstance(blocks, Sequence) or not len(blocks) or isinstance(blocks, str):
        raise InputTypeError(
            f"Expected a Dask array or a list of delayed blocks of rows, got {type(blocks).__name__}. "
            "dask.array.from_array(A, chunks=(rows, -1)) makes one of an array."
        )
    return [[block] for block in blocks]


def _slices_of(sizes: Sequence[int]) -> list[slice]:
    """The rows of A that each block has."""
    return [slice(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *sizes]))]


def _check_described(shapes: Sequence[tuple[int, int]], kinds: Sequence[str]) -> tuple[int, Any]:
    """The number of rows and the dtype of blocks that fit together."""
    n = sum(rows for rows, _ in shapes)
    for number, (rows, columns) in enumerate(shapes):
        if columns != n:
            raise InputError(
                f"The blocks have {n} rows together, so each needs {n} columns; block {number} has shape "
                f"({rows}, {columns})."
            )
    if len(set(kinds)) > 1:
        raise InputError(
            f"The blocks have different precisions, {' and '.join(sorted(set(kinds)))}. Convert all to one "
            "with .astype."
        )
    return n, kinds[0]


# On workers -------------------------------------------------------------------------------------------------


def prepare(*chunks: Any) -> Any:
    """The chunks of some rows as one array, dense or CSR, as the kernels take it."""
    parts = [chunk.tocsr() if hasattr(chunk, "tocsr") else chunk for chunk in chunks]
    if any(map(sp.issparse, parts)):
        whole = (
            parts[0] if len(parts) == 1 else sp.hstack([sp.csr_array(part) for part in parts], format="csr")
        )
        return read_csr(whole)
    return read_dense(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))


def shape_and_dtype(block: Any, _: None = None) -> tuple[tuple[int, int], str]:
    """Shape and dtype."""
    return block.shape, block.dtype.name


def as_it_is(value: Any, _: None = None) -> Any:
    """The value itself, from a worker."""
    return value


def multiply_block(block: Any, H: Array) -> Array:
    """The product of a block of rows with H, with the bits of these rows on one machine."""
    if not sp.issparse(block):
        return dense_product(block, H)
    out = np.empty((block.shape[0], H.shape[1]), dtype=H.dtype)
    _kernels.spmm(block.indptr, block.indices, block.data, H, out)
    return out


def take_rows(block: Any, _: None, index: Array) -> Array:
    """Some rows, dense."""
    rows = block[index]
    return rows.toarray() if sp.issparse(rows) else rows


def take_part(block: Any, columns: Array, rows: Array) -> Any:
    """Some rows and columns, as the kernels take them."""
    return prepare(block[rows][:, columns])


def take_entries(block: Any, _: None, rows: Array, columns: Array) -> Array:
    """Single entries."""
    return np.asarray(block[rows, columns]).reshape(-1)


def summarize(block: Any, d: Array | None, first: int) -> Summary:
    """Sums and extremes of the entries, times d_i d_j if there is a d."""
    m, n = block.shape
    summary = Summary(n, block.dtype)
    for part in split(m, max(1, PIECE // max(n, 1)) if not sp.issparse(block) else max(m, 1)):
        piece = block[part] if sp.issparse(block) else sp.csr_array(block[part])
        rows, values = slice(first + part.start, first + part.stop), piece.data
        if d is not None:
            values = d[piece.indices] * values * np.repeat(d[rows], np.diff(piece.indptr))
        summary.add(RowBlock(rows, piece.indptr, piece.indices, values))
    summary.diagonal = summary.diagonal[first : first + m].copy()
    return summary.finish()


def cut(block: Any, columns: slice) -> Any:
    """Some columns of a block of rows."""
    return block[:, columns]


def worst_gap(upper: Any, lower: Any, left: Array, right: Array) -> tuple[float, int, int]:
    """The largest difference of one part of A from the transpose of another, and where it is."""
    gaps = sp.coo_array(upper - lower.T)
    if not gaps.nnz:
        return 0.0, 0, 0
    rows, columns = gaps.coords
    sizes = np.abs(gaps.data * left[rows] * right[columns])
    worst = int(sizes.argmax())
    return float(sizes[worst]), int(rows[worst]), int(columns[worst])
