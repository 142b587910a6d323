"""Edges that memory does not hold: read in pieces, and kept as a matrix on disk."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from symclust._optional import need
from symclust._types import FilePath
from symclust.exceptions import InputError
from symclust.operators import OnDisk, write_on_disk
from symclust.readers._delimited import (
    COMMENT,
    LONGEST_LINE,
    SAMPLE,
    Layout,
    as_names,
    without_comments,
)
from symclust.readers._pairs import Described
from symclust.readers._source import Source, naming_damage
from symclust.readers.graphs import (
    AUTO,
    choose_columns,
    lay_out_edges,
    parse_edges,
    read_edge_weights,
    read_side,
)
from symclust.validation import check_number

SHARE = 64  # bytes of memory for one of a text that is parsed: its fields, their widths, the table of them
LEAST = 256  # bytes that are parsed at a time, however little memory there is
EDGE_BYTES = 200  # of memory for an edge that comes from a Parquet file
PARQUET = (".parquet", ".pq")


def build_on_disk(
    path: FilePath,
    folder: FilePath,
    *,
    delimiter: str | None = None,
    header: bool | str = AUTO,
    weight: object = AUTO,
    duplicates: str = "error",
    memory_limit: int = 1 << 30,
    dtype: DTypeLike = "float64",
) -> OnDisk:
    r"""Turn a list of edges of any size into a matrix on disk, which estimators take with bounded memory.

    The file is read in pieces; edges are sorted in runs, which are written and merged. The result is that of
    `symclust.read` for a file that fits into memory: the same names, the same order, the same weights.

    Parameters
    ----------
    path : str or PathLike
        A text with an edge in each line, also compressed with gzip: two names and perhaps a weight, comments
        beginning with # or %. Or a Parquet file, or a folder of them, with a row for each edge. Names
        that are whole numbers of 2⁶³ and more are taken for texts.
    folder : str or PathLike
        The folder to make; it must not exist. While the work is under way, about 100 bytes an edge are
        written to a folder beside it.
    delimiter : str, optional
        The character between fields, or ``"spaces"``; guessed by default.
    header : bool or "auto", default="auto"
        Whether the first line of a text names the columns.
    weight : str, int or None, default="auto"
        The column with the weights; None to let each edge count 1.
    duplicates : {"error", "sum", "max", "first"}
        How to treat an edge that is listed more than once in a direction, or with two weights.
    memory_limit : int, default=1073741824
        Bytes of edges in memory. Beside them, nodes take 16 bytes each, and some 150 with texts as names.
    dtype : {"float64", "float32"}
        Type of the weights on disk.

    Returns
    -------
    OnDisk
        ``symclust.read(folder)`` opens it again.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import symclust
    >>> from symclust.readers import build_on_disk
    >>> with TemporaryDirectory() as place:
    ...     edges = Path(place) / "friends.txt"
    ...     _ = edges.write_text("# friends\nann bob 2\nbob cem 1\ncem ann 3\n")
    ...     A = build_on_disk(edges, Path(place) / "friends")
    ...     model = symclust.SymNMF(1, affinity="precomputed", random_state=0).fit(A)
    ...     symclust.read(Path(place) / "friends").names, model.labels_.tolist()
    (['ann', 'bob', 'cem'], [0, 0, 0])
    """
    check_number("memory_limit", memory_limit, least=1, whole=True)
    source = Source(path)
    edges: _TextEdges | _ParquetEdges
    if source.is_folder or source.suffix in PARQUET:
        edges = _ParquetEdges(source, weight, memory_limit)
    else:
        edges = _TextEdges(source, delimiter, header, weight, memory_limit)

    def build() -> OnDisk:
        return write_on_disk(
            edges.chunks(), folder, duplicates=duplicates, memory_limit=memory_limit, dtype=dtype,
            place=lambda row: f"edge {row + 1:,}", rename=as_names, notes=edges.notes,
        )  # fmt: skip

    try:
        return build()
    except _NotWholeError:  # a name after millions of whole numbers: then all names are texts
        edges.as_texts = True
        return build()
    except InputError as error:
        if source.name in str(error):
            raise
        raise InputError(f"{source.name}: {error}") from error


def is_on_disk(source: Source) -> bool:
    """Whether a folder holds a matrix on disk."""
    return source.path is not None and (source.path / "header.json").is_file()


def read_on_disk(source: Source, kind: str = "graph", memory_limit: int | None = None) -> Described:
    """Open a folder that `build_on_disk` has made."""
    operator = OnDisk(source.path, **({} if memory_limit is None else {"memory_limit": memory_limit}))
    return Described(operator, "graph", operator.names, list(operator.notes))


class _NotWholeError(Exception):
    """Some names are whole numbers, and here are others."""


class _TextEdges:
    """A list of edges as text, a piece of lines at a time."""

    def __init__(
        self, source: Source, delimiter: str | None, header: bool | str, weight: Any, memory_limit: int
    ) -> None:
        self.source, self.as_texts = source, False
        self.size = max(LEAST, memory_limit // SHARE)
        layout, self.has_header, self.names, self.ends, self.column, self.notes = lay_out_edges(
            self._take_sample(), source, delimiter, header, weight
        )
        self.layout = replace(layout, rows=layout.rows[self.has_header :])

    def _take_sample(self) -> bytes:
        """The first lines with edges, without comments."""
        sample = b""
        for piece in self._pieces(SAMPLE):
            sample += piece
            if len(sample) >= SAMPLE:
                break
        if not sample.strip():
            raise InputError(f"{self.source.name} holds no edges.")
        return sample

    def _pieces(self, size: int) -> Iterator[bytes]:
        """Yield the text without comments, in whole lines of about `size` bytes."""
        bare, rest = self._first_piece, b""
        with self.source.open() as file:
            while part := file.read(size):
                text = rest + part
                end = text.rfind(b"\n") + 1
                rest = text[end:]
                if len(rest) > LONGEST_LINE:
                    raise InputError(f"{self.source.name} has a line beyond {LONGEST_LINE / 1e6:.0f} MB.")
                if end:
                    yield bare(self._checked(text[:end]))
                    bare = partial(COMMENT.sub, b"")
        if rest:
            yield bare(self._checked(rest + b"\n"))

    def _first_piece(self, text: bytes) -> bytes:
        return without_comments(text.removeprefix(codecs.BOM_UTF8))

    def _checked(self, text: bytes) -> bytes:
        try:
            if b"\0" in text:
                raise ValueError("it has zero bytes")
            text.isascii() or text.decode("utf-8")
        except ValueError as error:
            raise InputError(f"{self.source.name} is no text in UTF-8: {error}. Convert it first.") from error
        return text.replace(b"\r\n", b"\n")

    def chunks(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield edges: two ends and weights, or None for these."""
        header, position, are_whole = self.has_header, 0, None
        for piece in self._pieces(self.size):
            begins = header and bool(piece.strip())
            text = piece.lstrip(b" \t\n").partition(b"\n")[2] if begins else piece
            header = header and not begins
            if not text.strip():
                continue
            frame = parse_edges(
                text, self.layout, self.names, False, self.ends, self.column, self.source, self.as_texts
            )
            source, target = (read_side(frame[end], self.source.name, _place(position)) for end in self.ends)
            is_whole = _are_whole(source, target)
            if are_whole not in (None, is_whole):
                raise _NotWholeError
            are_whole = is_whole
            yield source, target, _weights(frame, self.column, self.source, position)
            position += len(frame)


class _ParquetEdges:
    """The edges of Parquet files, some rows at a time."""

    def __init__(self, source: Source, weight: Any, memory_limit: int) -> None:
        self.source, self.as_texts = source, False
        self.size = max(1, memory_limit // EDGE_BYTES)
        assert source.path is not None
        self.paths = [source.path] if not source.is_folder else _files_in(source)
        names = self._open(self.paths[0]).schema_arrow.names
        if len(names) < 2:
            raise InputError(f"{source.name} has one column; an edge has two ends.")
        ends, column, self.notes = choose_columns(names, Layout("", [names], []), True, weight, source.name)
        self.ends = [names[end] for end in ends]
        self.column = None if column is None else names[column]

    def _open(self, path: Path) -> Any:
        purpose = f"Reading {path.name}"
        need("pandas", "tables", purpose)
        parquet = need("pyarrow.parquet", "tables", purpose)
        with naming_damage(f"{path.name} is not a Parquet file, or is damaged"):
            return parquet.ParquetFile(path)

    def chunks(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield edges: two ends and weights, or None for these."""
        columns = [*self.ends, *([] if self.column is None else [self.column])]
        position = 0
        for path in self.paths:
            file = self._open(path)
            if missing := [column for column in columns if column not in file.schema_arrow.names]:
                raise InputError(f"{path.name} has no column {missing[0]!r}, which {self.paths[0].name} has.")
            for batch in file.iter_batches(self.size, columns=columns):
                frame = batch.to_pandas()
                source, target = (self._end(frame[end], position) for end in self.ends)
                if not self.as_texts and not _are_whole(source, target) and source.dtype != target.dtype:
                    raise _NotWholeError
                yield source, target, _weights(frame, self.column, self.source, position)
                position += len(frame)

    def _end(self, column: Any, position: int) -> np.ndarray:
        is_whole = column.dtype.kind in "iu"
        if not is_whole or self.as_texts:
            column = column.astype(object) if not is_whole else column.astype(str)
        if (gaps := column.isna()).any():
            raise InputError(
                f"{self.source.name}: {_place(position)(int(gaps.argmax()))} has an end of an edge without a "
                "name."
            )
        return column.to_numpy()


def _place(position: int) -> Callable[[int], str]:
    return lambda row: f"edge {position + row + 1:,}"


def _weights(frame: Any, column: Any, source: Source, position: int) -> np.ndarray | None:
    if column is None:
        return None
    weights = frame[column]
    weights = weights if weights.dtype.kind in "biuf" else weights.astype(object)
    return np.asarray(read_edge_weights(weights, source.name, _place(position)), dtype=np.float64)


def _files_in(source: Source) -> list[Path]:
    assert source.path is not None
    paths = sorted(path for path in source.path.iterdir() if path.suffix.lower() in PARQUET)
    if not paths:
        raise InputError(f"There are no Parquet files in {source.name}, which would hold edges.")
    return paths


def _are_whole(source: np.ndarray, target: np.ndarray) -> bool:
    """Whether both ends are whole numbers; those that 63 bits do not hold are taken for texts."""
    if object in (source.dtype, target.dtype):
        return False
    most = np.iinfo(np.int64).max
    if any(end.dtype.kind == "u" and end.size and int(end.max()) > most for end in (source, target)):
        raise _NotWholeError
    return True
