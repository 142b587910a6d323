"""Edges in the partitions of a table as blocks of rows of a matrix: all of it tasks for workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from symclust._optional import Lazy, need
from symclust._types import Array
from symclust.exceptions import InputError, InputTypeError
from symclust.operators._conversion import column_numbers, weight_column
from symclust.operators._network import DUPLICATES, check_weights, once_each
from symclust.validation import check_known, check_number, end_columns, is_a

FAN_IN = 8  # tables of names that one task puts together
Piece = tuple[Array, Array, Array]  # two ends, by number, and the weight
dask: Any = Lazy("dask", "dask")


def delay_edges(
    edges: Any, weight: Any, duplicates: str, n_blocks: int | None, dtype: Any
) -> tuple[Any, list[Any]]:
    """The names of all nodes, and the rows of the adjacency matrix in blocks, both delayed."""
    check_known("duplicates", duplicates, DUPLICATES)
    if n_blocks is not None:
        check_number("n_blocks", n_blocks, least=1, whole=True)
    table = _read_table(edges)
    ends = end_columns(table) or tuple(table.columns[:2])
    if len(ends) < 2:
        raise InputError(
            f"A table of edges has a column for each end; this one has {list(table.columns)!r:.80}."
        )
    column = weight_column(table, weight, ends)
    parts = table[[*ends, *([] if column is None else [column])]].to_delayed()
    delayed, count = dask.delayed, n_blocks or len(parts)
    names = _reduce([delayed(distinct)(part, ends, p) for p, part in enumerate(parts)])
    divided = [delayed(divide, nout=count)(part, names, ends, column, count) for part in parts]
    blocks = [
        delayed(assemble)([pieces[number] for pieces in divided], names, number, count, duplicates, dtype)
        for number in range(count)
    ]
    return names, blocks


def _read_table(edges: Any) -> Any:
    if isinstance(edges, str | PathLike):
        return _read_parquet(edges)
    if not is_a(edges, "dask", "DataFrame"):
        raise InputTypeError(
            f"Edges on a cluster are a Dask DataFrame, or the path of a Parquet file or folder; got "
            f"{type(edges).__name__}. Make one with dask.dataframe.from_pandas(frame, npartitions=...)."
        )
    return edges


def _read_parquet(path: Any) -> Any:
    frames = need("dask.dataframe", "dask")
    try:
        return frames.read_parquet(path)
    except (OSError, ValueError) as error:  # what is not Parquet is an ArrowInvalid, which is a ValueError
        reason = str(error).rpartition("Original Message: ")[2]
        raise InputError(
            f"{str(path)!r} cannot be read as edges: {reason:.200}. Expected a Parquet file, or a folder of "
            "files that end with .parquet; for other tables give a Dask DataFrame."
        ) from error


def _reduce(tables: list[Any]) -> Any:
    """Put names together in a tree of tasks: a single one would have all tables in memory."""
    merge = dask.delayed(merge_names)
    while len(tables) > 1:
        tables = [merge(tables[at : at + FAN_IN]) for at in range(0, len(tables), FAN_IN)]
    return merge(tables, last=True)


# On workers -------------------------------------------------------------------------------------------------


def distinct(part: Any, ends: Sequence[Any], number: int) -> Array:
    """The nodes of a partition: whole numbers sorted, texts in the order in which they appear."""
    if not len(part):
        return np.empty(0, dtype=object)
    for column in ends:
        if (gaps := part[column].isna().to_numpy()).any():
            raise InputError(
                f"The edge in row {int(gaps.argmax()) + 1} of partition {number} has no {column!r}."
            )
    columns = [part[column].to_numpy() for column in ends]
    if all(values.dtype.kind in "iu" for values in columns):
        return np.unique(np.concatenate(columns))
    both = np.empty(2 * len(part), dtype=object)
    both[0::2], both[1::2] = columns
    odd = next((name for name in both if not isinstance(name, str)), None)
    if odd is not None:
        raise InputTypeError(
            f"Nodes are whole numbers or texts, all of one kind; partition {number} has {odd!r:.40}."
        )
    return _unique_texts(both)


def _unique_texts(names: Array) -> Array:
    import pandas

    return np.asarray(pandas.unique(names), dtype=object)


def merge_names(tables: Sequence[Array], last: bool = False) -> Array:
    """The names of several tables, each once."""
    tables = [table for table in tables if table.size]
    if not tables:
        if last:
            raise InputError("The table has no edges: there is nothing to cluster.")
        return np.empty(0, dtype=object)
    if len({table.dtype.kind == "O" for table in tables}) > 1:
        raise InputTypeError(
            "Nodes are numbers in some partitions of the table and texts in others. Give all as texts."
        )
    together = np.concatenate(tables)
    return _unique_texts(together) if together.dtype.kind == "O" else np.unique(together)


def first_row(number: int, n: int, n_blocks: int) -> int:
    """Number of the first row of a block."""
    return number * n // n_blocks


def divide(part: Any, names: Array, ends: Sequence[Any], column: Any, n_blocks: int) -> tuple[Piece, ...]:
    """For each block of rows the edges of a partition with an end in it, in their order."""
    i, j = (_number(part[end].to_numpy(), names) for end in ends)
    w = np.ones(len(part)) if column is None else column_numbers(part, column)
    starts = [first_row(number, len(names), n_blocks) for number in range(n_blocks + 1)]
    of_i, of_j = (np.searchsorted(starts[1:-1], nodes, side="right") for nodes in (i, j))
    there = np.flatnonzero(of_i != of_j)  # these edges are in two blocks
    edges, blocks = np.r_[np.arange(len(i)), there], np.r_[of_i, of_j[there]]
    order = np.lexsort((edges, blocks))
    cuts = np.searchsorted(blocks[order], np.arange(1, n_blocks))
    return tuple((i[own], j[own], w[own]) for own in np.split(edges[order], cuts))


def _number(nodes: Array, names: Array) -> Array:
    if names.dtype.kind != "O":
        found = np.searchsorted(names, nodes)
    else:
        import pandas

        found = pandas.Index(names).get_indexer(nodes)
    return found.astype(np.int32 if len(names) < 2**31 else np.int64)


def assemble(
    pieces: Sequence[Piece], names: Array, number: int, n_blocks: int, duplicates: str, dtype: Any
) -> sp.csr_array:
    """A block of rows of the matrix: all edges with an end in it are there, from both sides.

    An edge between two blocks is in both, in the same order, and gets the same weight.
    """
    i, j, w = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    borders = np.cumsum([len(piece[0]) for piece in pieces])

    def place(row: int) -> str:
        return f"in partition {int(np.searchsorted(borders, row, side='right'))}"

    known: Any = names
    check_weights(i, j, w, known, place)
    rows, w = once_each(i, j, w, np.flatnonzero(i != j), known, duplicates, place, Counter())
    a, b, n = i[rows[w != 0]], j[rows[w != 0]], len(names)
    w = w[w != 0].astype(dtype)
    first, stop = first_row(number, n, n_blocks), first_row(number + 1, n, n_blocks)
    r, c, v = np.r_[a, b], np.r_[b, a], np.r_[w, w]
    own = (r >= first) & (r < stop)
    return sp.coo_array((v[own], (r[own] - first, c[own])), shape=(stop - first, n)).tocsr()
