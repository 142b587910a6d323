"""Rows of a sparse matrix that is larger than memory, in blocks: the next is read while one is used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np

from symclust._threads import ahead
from symclust._types import Array
from symclust.exceptions import InputError


class RowBlock(NamedTuple):
    """Some consecutive rows as CSR, the first of which is row ``rows.start``; valid until the next is read.

    `indptr` begins with 0 and has the integer type of `indices`, as the kernels take it.
    """

    rows: slice
    indptr: Array
    indices: Array
    values: Array


Reader: TypeAlias = Callable[[int, Array, Array], None]
"""Fills arrays of column numbers and values with the entries from a number on."""


@dataclass(frozen=True)
class ArrayEntries:
    """Entries that are held in memory."""

    indices: Array
    values: Array

    def open(self, stack: ExitStack) -> Reader:
        """A function that copies them."""

        def read(first: int, indices: Array, values: Array) -> None:
            indices[:] = self.indices[first : first + len(indices)]
            values[:] = self.values[first : first + len(values)]

        return read


class FileEntries:
    """Entries in two files of numbers, which begin `offsets` bytes after the start of each.

    A file that is changed after this is made is refused: it was checked before. Every pass
    opens the files anew: threads and forked processes do not share a position in them. They are
    read, not mapped, so that what is in memory at a time is what the buffers hold.
    """

    def __init__(self, paths: tuple[Path, Path], offsets: tuple[int, int]) -> None:
        self.paths, self.offsets = paths, offsets
        self.stamps = [_stamp(path.stat()) for path in paths]

    def open(self, stack: ExitStack) -> Reader:
        """A function that reads them."""
        files = [stack.enter_context(path.open("rb", buffering=0)) for path in self.paths]

        def read(first: int, indices: Array, values: Array) -> None:
            for file, offset, array in zip(files, self.offsets, (indices, values), strict=True):
                file.seek(offset + first * array.itemsize)
                _fill(file, array)
            for file, stamp in zip(files, self.stamps, strict=True):
                if _stamp(os.fstat(file.fileno())) != stamp:
                    raise InputError(
                        f"{Path(file.name).name} in {Path(file.name).parent.name!r} was changed while it was "
                        "used. Open the matrix again once its files stay as they are."
                    )

        return read


def _stamp(about: os.stat_result) -> tuple[int, int]:
    """Size and time of change of a file."""
    return about.st_size, about.st_mtime_ns


def _fill(file: Any, array: Array) -> None:
    """Read until the array is full: one call may bring less."""
    left = memoryview(array).cast("B")
    while left.nbytes:
        count = file.readinto(left)
        if not count:
            raise InputError(
                f"{Path(file.name).name} ends too early: it was cut off, or changed while it was used. "
                "Build the folder again."
            )
        left = left[count:]


Entries: TypeAlias = ArrayEntries | FileEntries


class Buffers:
    """Two pairs of arrays that passes over a matrix use again: fresh memory would cost a page fault each."""

    def __init__(self, index_dtype: Any, dtype: Any) -> None:
        self._dtypes = index_dtype, dtype
        self._spare: list[tuple[Array, Array]] = []

    def take(self, size: int) -> tuple[Array, Array]:
        """Arrays of at least `size` entries that are not in use."""
        try:
            pair = self._spare.pop()  # a single step, also with several threads
        except IndexError:
            pair = None
        if pair is not None and len(pair[0]) >= size:
            return pair
        return np.empty(size, self._dtypes[0]), np.empty(size, self._dtypes[1])

    def give_back(self, pair: tuple[Array, Array]) -> None:
        """Take arrays back, two pairs at most."""
        if len(self._spare) < 2:
            self._spare.append(pair)


def entry_bytes(index_dtype: Any, dtype: Any) -> int:
    """The bytes of one entry, its column number and its value."""
    return np.dtype(index_dtype).itemsize + np.dtype(dtype).itemsize


def cut_rows(indptr: Array, size: int, step: int = 1) -> list[slice]:
    """Cut rows into blocks of at most `size` entries whose borders are multiples of `step` rows.

    A block has `step` rows at least, however many entries they have.
    """
    n = len(indptr) - 1
    borders = np.append(np.arange(0, n, step), n)
    before, place, blocks = indptr[borders], 0, []
    while place < len(borders) - 1:
        last = int(np.searchsorted(before, before[place] + size, side="right")) - 1
        last = min(max(last, place + 1), len(borders) - 1)
        blocks.append(slice(int(borders[place]), int(borders[last])))
        place = last
    return blocks


def read_blocks(
    entries: Entries,
    indptr: Array,
    blocks: Sequence[slice],
    buffers: Buffers,
    finish: Callable[[RowBlock], RowBlock],
) -> Iterator[RowBlock]:
    """Yield blocks of rows in order; a thread reads and finishes the next one while one is worked on."""
    largest = max((int(indptr[rows.stop] - indptr[rows.start]) for rows in blocks), default=0)
    with ExitStack() as stack:
        read = entries.open(stack)
        pairs = [buffers.take(largest) for _ in blocks[:2]]
        for pair in pairs:
            stack.callback(buffers.give_back, pair)

        def load(number: int) -> RowBlock:
            return finish(_load(read, indptr, blocks[number], pairs[number % 2]))

        yield from ahead(map(load, range(len(blocks))))


def _load(read: Reader, indptr: Array, rows: slice, pair: tuple[Array, Array]) -> RowBlock:
    first, last = int(indptr[rows.start]), int(indptr[rows.stop])
    indices, values = (array[: last - first] for array in pair)
    read(first, indices, values)
    return RowBlock(rows, (indptr[rows.start : rows.stop + 1] - first).astype(indices.dtype), indices, values)


def open_numbers(path: Path, dtype: Any, length: int) -> int:
    """Offset of the numbers in an .npy file, which has to hold `length` of that type."""
    try:
        with path.open("rb") as file:
            found = _read_header(file)
            offset, size = file.tell(), path.stat().st_size
    except (OSError, ValueError) as error:
        raise InputError(f"{path.name} is missing or damaged: {error}. Build the folder again.") from error
    kind = np.dtype(dtype)
    if found != ((length,), False, kind) or size != offset + length * kind.itemsize:
        raise InputError(
            f"{path.name} does not fit the other files: {length:,} numbers of type {kind} are expected, it "
            f"says {found[2]} and shape {found[0]}, and has {size:,} bytes. Build the folder again."
        )
    return offset


def _read_header(file: BinaryIO) -> Any:
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("it is of another version of the format")
    return np.lib.format.read_array_header_1_0(file)
