"""A kept as a sparse matrix on disk, and read in blocks of rows."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from symclust import _kernels
from symclust._files import new_folder, refuse_failure
from symclust._threads import cached_property, split
from symclust._types import Array
from symclust.exceptions import InputError
from symclust.operators._arrays import as_pairs, as_subset, as_vector, on_lines
from symclust.operators._base import Operator, Restricted
from symclust.operators._summary import PIECE, Summarized, Summary
from symclust.operators.disk._row_blocks import (
    ArrayEntries,
    Buffers,
    Entries,
    FileEntries,
    RowBlock,
    cut_rows,
    entry_bytes,
    open_numbers,
    read_blocks,
)
from symclust.operators.sparse import Sparse
from symclust.validation import check_number

__all__ = ["OnDisk"]

FORMAT, VERSION = "symclust matrix", 1
HEADER = "header.json"
DTYPES = ("float32", "float64")
NAMES = (None, "numbers", "texts")
BUFFERED = 1 << 27  # bytes of both buffers: beyond some MB, larger ones read no faster


class OnDisk(Summarized):
    """A symmetric sparse matrix in a folder, of which two blocks of rows are in memory at a time.

    `symclust.readers.build_on_disk` makes such a folder of a list of edges larger than memory. Products and
    what is made of them, row descent and the starts give the same bits as a `Sparse` of the same entries:
    blocks are cut where the kernels cut. Methods that go column by column (`solver="coordinate"`, the starts
    "greedy" and "zero") agree up to rounding.

    Parameters
    ----------
    folder : str or PathLike
        With ``header.json``, ``indptr.npy``, ``indices.npy`` and ``values.npy``.
    memory_limit : int, default=134217728
        Bytes that the two blocks may take together. Beside them, 8 bytes a row are kept.

    Attributes
    ----------
    indptr : ndarray of shape (n + 1,)
        The number of the first entry of each row.
    notes : list of str
        Changes to the edges when the folder was built.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from symclust.operators import OnDisk, write_on_disk
    >>> with TemporaryDirectory() as place:
    ...     edges = [(["ann", "bob"], ["bob", "cem"], [2.0, 3.0])]
    ...     A = write_on_disk(edges, Path(place) / "friends")
    ...     A.names, A.degrees().tolist()
    (['ann', 'bob', 'cem'], [2.0, 5.0, 3.0])
    """

    is_streamed: ClassVar[bool] = True
    _rows_are_thread_safe = True
    _why_not_saved = (
        "The similarities are a matrix on disk, and files of models do not hold what is larger than memory. "
        "Save the model without its data: model.save(path, data=False)."
    )
    _scale: Array | None = None  # d, if the operator is diag(d) A diag(d)

    def __init__(self, folder: Any, *, memory_limit: int = BUFFERED) -> None:
        check_number("memory_limit", memory_limit, least=1, whole=True)
        # Absolute: the program may change its folder, and a copy may be opened in another process.
        self.folder, self.memory_limit = Path(folder).absolute(), int(memory_limit)
        header = read_header(self.folder)
        super().__init__(header["n"], header["dtype"])
        self.n_entries: int = header["n_entries"]
        self.notes: list[str] = header["notes"]
        self._kind_of_names, self._sum_of_names = header["names"], header.get("names_crc32")
        self.index_dtype = index_dtype = np.dtype(header["index_dtype"])
        paths = self.folder / "indices.npy", self.folder / "values.npy"
        offsets = (
            open_numbers(paths[0], index_dtype, self.n_entries),
            open_numbers(paths[1], self.dtype, self.n_entries),
        )
        self._entries: Entries = FileEntries(paths, offsets)
        self.indptr = _read_indptr(self.folder / "indptr.npy", self.n, self.n_entries)
        self._buffers = Buffers(index_dtype, self.dtype)
        self._block_entries = max(1, self.memory_limit // 2 // entry_bytes(index_dtype, self.dtype))

    def __reduce__(self) -> Any:
        return _reopen, (str(self.folder), self.memory_limit, self._scale)

    @cached_property
    def names(self) -> list[Any] | None:
        """Names of the rows, read when first used; None for numbers from 0 on."""
        return read_names(self.folder, self._kind_of_names, self.n, self._sum_of_names)

    # Blocks -------------------------------------------------------------------------------------------------

    def blocks(self, step: int = 1) -> Iterator[RowBlock]:
        """Yield all rows in blocks whose borders are multiples of `step` rows."""
        return self._read(cut_rows(self.indptr, self._block_entries, step))

    def _read(self, blocks: Sequence[slice]) -> Iterator[RowBlock]:
        return read_blocks(self._entries, self.indptr, blocks, self._buffers, self._finish)

    def _finish(self, block: RowBlock) -> RowBlock:
        """Check what the kernels trust, and scale."""
        indices, values = block.indices, block.values
        # Read as unsigned, negative numbers are the largest: one look is enough.
        if indices.size and indices.view(f"u{indices.itemsize}").max() >= self.n:
            raise InputError(
                f"indices.npy in {self.folder.name!r} is damaged: there are column numbers outside 0 to "
                f"{self.n - 1:,} in rows {block.rows.start:,} to {block.rows.stop:,}. Build the folder again."
            )
        if self._scale is not None:
            left = np.repeat(self._scale[block.rows], np.diff(block.indptr))
            for part in split(values.size, PIECE):
                values[part] *= left[part] * self._scale[indices[part]]
        return block

    @contextmanager
    def with_rows(self, active: Array) -> Iterator[Callable[[int], Iterator[RowBlock]]]:
        """Give a function like `blocks` for the rows that are `active` alone; the others seem empty.

        Their entries are gathered in one pass: in memory if they fit into a block, else in a temporary file.
        Partial sweeps come back to them many times.
        """
        indptr = np.zeros_like(self.indptr)
        np.cumsum(np.diff(self.indptr) * (active != 0), out=indptr[1:])
        with ExitStack() as stack:
            entries = self._gather(active, int(indptr[-1]), stack)

            def blocks(step: int) -> Iterator[RowBlock]:
                rows = cut_rows(indptr, self._block_entries, step)
                return read_blocks(entries, indptr, rows, self._buffers, lambda block: block)

            yield blocks

    def _gather(self, active: Array, count: int, stack: ExitStack) -> Entries:
        parts = (_active_entries(block, active) for block in self.blocks())
        if count <= self._block_entries:
            gathered = list(parts)
            return ArrayEntries(
                np.concatenate([indices for indices, _ in gathered]),
                np.concatenate([values for _, values in gathered]),
            )
        parent = Path(gettempdir())
        place = stack.enter_context(new_folder(parent))
        paths = place / "indices", place / "values"
        size = count * entry_bytes(self.index_dtype, self.dtype)
        full = refuse_failure(parent, "Gathering the rows that are swept again", lambda: size)
        with full, paths[0].open("wb") as first, paths[1].open("wb") as second:
            for indices, values in parts:
                indices.tofile(first)
                values.tofile(second)
        return FileEntries(paths, (0, 0))

    # Products and rows --------------------------------------------------------------------------------------

    def _product(self, H: Array) -> Array:
        out = np.empty_like(H)
        H = on_lines([H])  # once: each block's product would copy it again
        for rows, indptr, indices, values in self.blocks():
            _kernels.spmm(indptr, indices, values, H, out[rows])
        return out

    def sums_in_double(self) -> Array:
        """The row sums accumulated in float64."""
        return self.product_in_double(np.ones(self.n))

    def product_in_double(self, H: Array) -> Array:
        """A @ H for an H of float64 in double precision, whatever the precision of A."""
        return np.concatenate([self._as_csr(block) @ H for block in self.blocks()])

    def _as_csr(self, block: RowBlock) -> sp.csr_array:
        rows, indptr, indices, values = block
        return sp.csr_array((values, indices, indptr), shape=(rows.stop - rows.start, self.n))

    def _sparse_rows(self, index: Any) -> sp.csr_array:
        """Some rows, read run by run of consecutive ones, as an array of its own."""
        runs = [index] if isinstance(index, slice) else _runs(index)
        if not runs:
            return sp.csr_array((0, self.n), dtype=self.dtype)
        return sp.csr_array(
            sp.vstack([self._as_csr(block).copy() for block in self._read(runs)], format="csr")
        )

    def _rows(self, index: Any) -> Array:
        return self._sparse_rows(index).toarray()

    def _rows_product(self, rows: slice, H: Array) -> Array:
        out = np.empty((rows.stop - rows.start, H.shape[1]), dtype=self.dtype)
        for block in self._read([rows]):  # whose buffers are another thread's as soon as the loop is left
            _kernels.spmm(block.indptr, block.indices, block.values, H, out)
        return out

    def block(self, rows: slice) -> Array:
        return self._sparse_rows(rows)[:, rows].toarray()

    def entries(self, rows: Any, columns: Any) -> Array:
        rows, columns = as_pairs(rows, columns, self.n)
        needed, place = np.unique(rows, return_inverse=True)
        return np.asarray(self._sparse_rows(needed)[place, columns], dtype=self.dtype)

    def submatrix(self, index: Any) -> Operator:
        """The operator on the chosen rows and columns: in memory if it takes no more than a block.

        Finding that out reads the chosen rows once. Otherwise each of its products is one with all of A.
        """
        chosen = np.arange(self.n)[as_subset(index, self.n)]
        parts, count = [], 0
        for rows in split(chosen.size, self._rows_at_once()):
            parts.append(self._sparse_rows(chosen[rows])[:, chosen])
            count += parts[-1].nnz
            if count > self._block_entries:
                return Restricted(self, chosen)
        return Sparse(sp.vstack(parts, format="csr"))

    def _rows_at_once(self) -> int:
        """How many rows have about as many entries as a block, however they are chosen."""
        return max(1, self.n * self._block_entries // max(1, self.n_entries))

    def scaled(self, d: Any) -> OnDisk:
        """The operator diag(d) A diag(d): entries are multiplied as they are read."""
        d = as_vector(d, self.n, self.dtype, "d")
        return _reopen(self.folder, self.memory_limit, d if self._scale is None else self._scale * d)

    # Sums over all entries ----------------------------------------------------------------------------------

    @cached_property
    def _summary(self) -> Summary:
        summary = Summary(self.n, self.dtype)
        for block in self.blocks():
            summary.add(block)
        return summary.finish()

    def refuse_nonfinite(self) -> None:
        for rows, indptr, indices, values in self.blocks():
            finite = np.isfinite(values)
            if not finite.all():
                place = int(finite.argmin())
                row = rows.start + int(np.searchsorted(indptr, place, side="right")) - 1
                raise InputError(
                    f"values.npy in {self.folder.name!r} was changed or damaged: the entry at row {row:,}, "
                    f"column {int(indices[place]):,} is {values[place]}. Build the folder again."
                )

    @property
    def _unscaled(self) -> OnDisk | None:
        return None if self._scale is None else _reopen(self.folder, self.memory_limit, None)

    def _compare_transposed(self) -> tuple[float, tuple[int, int]]:
        """Compare each block with its columns in all rows: a pass for each, over what is refused anyway."""
        worst, where = 0.0, (0, 0)
        for rows in cut_rows(self.indptr, self._block_entries):
            columns = sp.vstack([self._as_csr(block)[:, rows] for block in self.blocks()], format="csr")
            gaps = abs(self._sparse_rows(rows) - columns.T).tocoo()
            place = int(gaps.data.argmax()) if gaps.nnz else 0
            if gaps.nnz and gaps.data[place] > worst:
                worst = float(gaps.data[place])
                where = rows.start + int(gaps.coords[0][place]), int(gaps.coords[1][place])
        return worst, where


def _reopen(folder: Any, memory_limit: int, scale: Array | None) -> OnDisk:
    operator = OnDisk(folder, memory_limit=memory_limit)
    operator._scale = scale
    return operator


def _active_entries(block: RowBlock, active: Array) -> tuple[Array, Array]:
    kept = np.repeat(active[block.rows] != 0, np.diff(block.indptr))
    return block.indices[kept], block.values[kept]


def _runs(index: Array) -> list[slice]:
    """Row numbers as slices of consecutive ones, in the order given."""
    starts = np.flatnonzero(np.diff(index, prepend=-2) != 1)
    stops = np.append(starts[1:], len(index))
    return [
        slice(int(index[start]), int(index[stop - 1]) + 1)
        for start, stop in zip(starts, stops, strict=True)
        if stop > start
    ]


# The folder -------------------------------------------------------------------------------------------------


def read_header(folder: Path) -> dict[str, Any]:
    """The header of a folder, checked."""
    if not (folder / HEADER).is_file():
        raise InputError(
            f"{folder.name!r} holds no matrix on disk: it has no file {HEADER}. Build it with "
            "symclust.readers.build_on_disk(edges, folder)."
        )
    try:
        header = json.loads((folder / HEADER).read_text(encoding="utf-8"))
        problem = _problem_of(header)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        raise InputError(f"{HEADER} in {folder.name!r} is damaged: {problem}. Build the folder again.")
    return header


def _problem_of(header: Any) -> str:
    if (header["format"], header["version"]) != (FORMAT, VERSION):
        return f"it is {header['format']!r:.40}, version {header['version']!r:.40}"
    for name in ("n", "n_entries"):
        if type(header[name]) is not int or header[name] < (name == "n"):
            return f"{name} is {header[name]!r:.40}"
    if header["dtype"] not in DTYPES or header["index_dtype"] not in ("int32", "int64"):
        return f"entries are {header['dtype']!r:.40}, column numbers {header['index_dtype']!r:.40}"
    are_texts = isinstance(header["notes"], list) and all(isinstance(note, str) for note in header["notes"])
    if header["names"] not in NAMES or not are_texts:
        return "names or notes are of another kind"
    return ""


def _read_indptr(path: Path, n: int, n_entries: int) -> Array:
    offset = open_numbers(path, np.int64, n + 1)
    indptr = np.fromfile(path, dtype=np.int64, offset=offset)
    if indptr[0] != 0 or indptr[-1] != n_entries or (np.diff(indptr) < 0).any():
        raise InputError(f"{path.name} is damaged: its numbers do not rise from 0 to {n_entries:,}.")
    return indptr


def read_names(folder: Path, kind: str | None, n: int, crc32: int | None = None) -> list[Any] | None:
    """The names that a folder keeps; folders of older versions have no checksum of them."""
    if kind is None:
        return None
    path = folder / ("names.npy" if kind == "numbers" else "names.json")
    try:
        data = path.read_bytes()
        if crc32 is not None and zlib.crc32(data) != crc32:
            raise ValueError("its checksum is wrong")
        if kind == "numbers":
            names = np.frombuffer(data, dtype=np.int64, offset=open_numbers(path, np.int64, n)).tolist()
        else:
            names = json.loads(data)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path.name} in {folder.name!r} is damaged: {error}. Build the folder again."
        ) from error
    known = int if kind == "numbers" else str
    if not isinstance(names, list) or len(names) != n or not all(isinstance(name, known) for name in names):
        raise InputError(f"{path.name} in {folder.name!r} does not hold {n:,} texts. Build the folder again.")
    if len(set(names)) < n:
        raise InputError(
            f"{path.name} in {folder.name!r} is damaged: some rows have the name of another. Build the "
            "folder again."
        )
    return names
