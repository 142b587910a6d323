"""From edges that memory does not hold to a matrix on disk: number, sort, combine, mirror, sort, write."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import DTypeLike

from symclust._files import new_folder, refuse_failure, sync
from symclust._types import Array, FilePath, SimilarityLike
from symclust.exceptions import InputError, InputTypeError
from symclust.operators._network import DUPLICATES, check_weights, count_signs, edge_notes, once_each
from symclust.operators.disk._external_sort import ExternalSort
from symclust.operators.disk.on_disk import BUFFERED, DTYPES, FORMAT, HEADER, VERSION, OnDisk
from symclust.operators.sparse import Sparse
from symclust.validation import check_known, check_number

EdgeChunk = tuple[Any, Any, Any]  # sources, targets, and weights or None
SPOOLED = np.dtype([("source", "<i8"), ("target", "<i8"), ("weight", "<f8")])
DIRECTED = np.dtype([("key", "<u8"), ("position", "<i8"), ("weight", "<f8")])
ENTRY = np.dtype([("key", "<u8"), ("weight", "<f8")])
SPACE = 100  # bytes on disk for an edge while the work is under way
SHARE = 8  # of the memory is for edges read from a file at a time: they are copied several times


def write_on_disk(
    edges: Iterable[EdgeChunk],
    folder: FilePath,
    *,
    duplicates: str = "error",
    memory_limit: int = 1 << 30,
    dtype: DTypeLike = "float64",
    place: Callable[[int], str] = lambda row: f"row {row + 1:,}",
    rename: Callable[[list[str]], list[Any]] = list,
    notes: Sequence[str] = (),
) -> OnDisk:
    """Write a network of any number of edges as a matrix on disk.

    Edges are treated as `network_of_edges` treats them: each may be listed once, or once from each end with
    the same weight; loops and edges of weight 0 are dropped, with a note. Whole numbers as names of nodes are
    sorted, texts stand in the order of their first appearance.

    Parameters
    ----------
    edges : iterable of (sources, targets, weights)
        Some edges at a time: two arrays of whole numbers, or of texts, and their weights, or None if each
        counts 1. Chunks should take much less memory than `memory_limit`.
    folder : str or PathLike
        The folder to make; it must not exist. While the work is under way, about 100 bytes an edge are
        written to a folder beside it.
    duplicates : {"error", "sum", "max", "first"}
        How to treat an edge that is listed more often.
    memory_limit : int, default=1073741824
        Bytes of edges in memory. Beside them, nodes take 16 bytes each, and some 150 with texts as names.
    dtype : {"float64", "float32"}
        Type of the weights on disk.
    place : callable
        From the number of an edge to words for messages.
    rename : callable
        From the texts given as names to the names that are kept, texts or whole numbers.
    notes : sequence of str
        Sentences about how the edges were read, kept before those about changes to them.

    Returns
    -------
    OnDisk
        With what was done to the edges in `notes`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from symclust.operators import write_on_disk
    >>> chunks = ((np.array([i]), np.array([i + 1]), None) for i in range(1000))
    >>> with TemporaryDirectory() as place:
    ...     A = write_on_disk(chunks, Path(place) / "path", memory_limit=10_000)
    ...     A, A.degrees().sum()
    (<OnDisk 1001 x 1001 float64>, np.float64(2000.0))
    """
    check_known("duplicates", duplicates, DUPLICATES)
    check_known("dtype", np.dtype(dtype).name, DTYPES)
    check_number("memory_limit", memory_limit, least=1, whole=True)
    builder = _Builder(duplicates, int(memory_limit), np.dtype(dtype), place)
    builder.nodes.rename = rename
    with _matrix_folder(folder, lambda: SPACE * builder.n_spooled) as beside:
        builder.build(beside, edges, list(notes))
    return OnDisk(folder, memory_limit=min(int(memory_limit), BUFFERED))


def save_on_disk(A: SimilarityLike, folder: FilePath) -> OnDisk:
    """Write a sparse matrix that is in memory as a matrix on disk, with the names of its rows.

    Parameters
    ----------
    A : Sparse, SciPy sparse array or matrix, of shape (n, n)
        Symmetric; the diagonal is kept.
    folder : str or PathLike
        The folder to make; it must not exist.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> import scipy.sparse
    >>> from symclust.operators import save_on_disk
    >>> with TemporaryDirectory() as place:
    ...     A = save_on_disk(scipy.sparse.eye_array(3), Path(place) / "identity")
    ...     A @ np.array([1.0, 2.0, 3.0])
    array([1., 2., 3.])
    """
    A = A if isinstance(A, Sparse) else Sparse(A)
    nodes = _Nodes.of(range(A.n) if A.names is None else A.names)
    size = A.values.nbytes + A.indices.nbytes + 8 * A.n
    with _matrix_folder(folder, lambda: size) as beside:
        _write_matrix(beside / "matrix", A.indptr, iter([(A.indices, A.values)]), A.indices.dtype, A.dtype)
        _write_header(beside / "matrix", A.n, A.values.size, A.indices.dtype, A.dtype, nodes, [])
    return OnDisk(folder)


@contextmanager
def _matrix_folder(folder: Any, needed: Callable[[], int]) -> Iterator[Path]:
    """Yield a temporary folder, whose subfolder ``matrix`` becomes `folder` in the end: all or nothing."""
    target, parent = Path(folder), Path(folder).absolute().parent
    if target.exists():
        raise InputError(f"{str(folder)!r} is there already. Name a folder that is not, or remove it.")
    if not parent.is_dir():
        raise InputError(f"{str(folder)!r} would be in a folder that does not exist. Make that folder first.")
    with refuse_failure(parent, f"Building {target.name!r}", needed), new_folder(parent) as beside:
        matrix = beside / "matrix"
        matrix.mkdir()
        yield beside
        for path in (*matrix.iterdir(), matrix):  # on the disk before they have their name
            sync(path)
        matrix.rename(target)
        sync(parent)


class _Builder:
    """One call of `write_on_disk`."""

    folder: Path  # of all that is written
    n_spooled = 0

    def __init__(self, duplicates: str, memory_limit: int, dtype: Any, place: Callable[[int], str]) -> None:
        self.duplicates, self.place = duplicates, place
        self.memory_limit, self.dtype = memory_limit, dtype
        self.n_at_once = max(16, memory_limit // (SHARE * SPOOLED.itemsize))
        self.tally: Counter[str] = Counter()
        self.first_loop: tuple[int, int] | None = None  # its position and its node
        self.nodes = _Nodes()

    def build(self, folder: Path, edges: Iterable[EdgeChunk], notes: list[str]) -> None:
        """Do all steps, one after the other."""
        self.folder = folder
        self._spool(edges)
        if not len(self.nodes):
            raise InputError("There are no edges: a network needs at least one.")
        self.n = len(self.nodes)
        mirrored = self._sorter(ENTRY)
        self.degrees = np.zeros(self.n, dtype=np.int64)
        mirrored.add_sorted(self._upper(mirrored))
        matrix, index_dtype = self.folder / "matrix", np.dtype(np.int32 if self.n < 1 << 31 else np.int64)
        indptr = np.concatenate([[0], np.cumsum(self.degrees)])
        entries = ((part["key"] % np.uint64(self.n), part["weight"]) for part in mirrored.merged())
        _write_matrix(matrix, indptr, entries, index_dtype, self.dtype)
        notes += self._notes()
        _write_header(matrix, self.n, int(indptr[-1]), index_dtype, self.dtype, self.nodes, notes)

    def _notes(self) -> list[str]:
        first = ""
        if self.first_loop is not None:
            position, node = self.first_loop
            first = f"{self.nodes.name_given(node)!r}, {self.place(position)}"
        return edge_notes(self.tally, self.duplicates, first)

    def _sorter(self, dtype: np.dtype[Any]) -> ExternalSort:
        # There are two at a time, and combining duplicates takes as much as sorting.
        return ExternalSort(self.folder, dtype, self.memory_limit // 4)

    def _spool(self, edges: Iterable[EdgeChunk]) -> None:
        """Write edges as they come, with numbers that are final for texts only."""
        with (self.folder / "spool").open("xb") as file:
            for source, target, weights in edges:
                i, j = self.nodes.number(np.asarray(source), np.asarray(target))
                w = np.ones(len(i)) if weights is None else np.asarray(weights, dtype=np.float64)
                self._check(i, j, w, self.n_spooled)
                records = np.empty(len(i), SPOOLED)
                records["source"], records["target"], records["weight"] = i, j, w
                self.n_spooled += len(i)
                file.write(records.tobytes())
        self.nodes.finish()

    def _check(self, i: Array, j: Array, w: Array, position: int) -> None:
        check_weights(i, j, w, self.nodes, lambda row: self.place(position + row))
        loops = np.flatnonzero(i == j)
        self.tally["loops"] += loops.size
        if loops.size and self.first_loop is None:
            self.first_loop = position + int(loops[0]), int(i[loops[0]])

    def _spooled(self) -> Iterator[tuple[Array, Array]]:
        """Yield what was spooled, and the positions; the file is removed at its end."""
        path, position = self.folder / "spool", 0
        while len(records := np.fromfile(path, SPOOLED, self.n_at_once, offset=position * SPOOLED.itemsize)):
            yield records, np.arange(position, position + len(records))
            position += len(records)
        path.unlink()

    def _directed(self) -> Iterator[Array]:
        """Edges without loops, sorted by their pair of nodes; all edges of a pair are in one part."""
        sorter = self._sorter(DIRECTED)
        for spooled, positions in self._spooled():
            i, j = self.nodes.places(spooled["source"]), self.nodes.places(spooled["target"])
            kept = i != j
            records = np.empty(int(kept.sum()), DIRECTED)
            i, j = i[kept], j[kept]
            pairs = np.minimum(i, j).astype(np.uint64) * np.uint64(self.n) + np.maximum(i, j).astype(
                np.uint64
            )
            # The direction is kept with the position, so that a key stands for both of a pair's.
            records["key"], records["position"] = pairs, 2 * positions[kept] + (i > j)
            records["weight"] = spooled["weight"][kept]
            sorter.add(records)
        return sorter.merged()

    def _upper(self, mirrored: ExternalSort) -> Iterator[Array]:
        """Yield the entries above the diagonal in order, and give those below to a sorter."""
        for records in self._directed():
            low, high, w = self._combine(records)
            np.add.at(self.degrees, low, 1)
            np.add.at(self.degrees, high, 1)
            mirrored.add(self._entries(high, low, w))
            yield self._entries(low, high, w)

    def _combine(self, records: Array) -> tuple[Array, Array, Array]:
        """Each edge once, in order; most are listed once, and need no rule for duplicates."""
        keys, w = records["key"].astype(np.int64), records["weight"].copy()
        differ = np.concatenate([[True], keys[1:] != keys[:-1], [True]])
        alone = differ[1:] & differ[:-1]
        if not alone.all():
            more = self._combine_repeated(records[~alone])
            keys, w = np.concatenate([keys[alone], more[0]]), np.concatenate([w[alone], more[1]])
            order = np.argsort(keys)
            keys, w = keys[order], w[order]
        count_signs(w, self.tally)
        low, high = np.divmod(keys[w != 0], self.n)
        return low, high, w[w != 0]

    def _combine_repeated(self, records: Array) -> tuple[Array, Array]:
        """The keys and weights of edges that are listed more than once, by the rule."""
        records = records[np.argsort(np.ascontiguousarray(records["position"]))]  # in which the rule counts
        low, high = np.divmod(records["key"].astype(np.int64), self.n)
        position, backward = np.divmod(records["position"], 2)
        i, j = np.where(backward, high, low), np.where(backward, low, high)
        rows, w = once_each(
            i, j, records["weight"], np.arange(len(i)), self.nodes, self.duplicates,
            lambda row: self.place(int(position[row])), self.tally,
        )  # fmt: skip
        return records["key"][rows].astype(np.int64), w

    def _entries(self, rows: Array, columns: Array, w: Array) -> Array:
        records = np.empty(len(w), ENTRY)
        records["key"] = rows.astype(np.uint64) * np.uint64(self.n) + columns.astype(np.uint64)
        records["weight"] = w
        return records


def _write_matrix(
    matrix: Path, indptr: Array, entries: Iterable[tuple[Array, Array]], index_dtype: Any, dtype: Any
) -> None:
    with (matrix / "indices.npy").open("xb") as first, (matrix / "values.npy").open("xb") as second:
        _write_npy_header(first, index_dtype, int(indptr[-1]))
        _write_npy_header(second, dtype, int(indptr[-1]))
        for indices, values in entries:
            first.write(indices.astype(index_dtype, copy=False).data)
            second.write(np.ascontiguousarray(values, dtype=dtype).data)
    with (matrix / "indptr.npy").open("xb") as file:
        _write_npy_header(file, np.dtype(np.int64), len(indptr))
        file.write(indptr.astype(np.int64).data)


def _write_header(
    matrix: Path, n: int, n_entries: int, index_dtype: Any, dtype: Any, nodes: _Nodes, notes: list[str]
) -> None:
    header = {
        "format": FORMAT,
        "version": VERSION,
        "n": n,
        "n_entries": n_entries,
        "dtype": dtype.name,
        "index_dtype": index_dtype.name,
        **nodes.write(matrix),
        "notes": notes,
    }
    text = json.dumps(header, indent=2, ensure_ascii=False)
    (matrix / HEADER).write_text(text + "\n", encoding="utf-8")


def _write_npy_header(file: BinaryIO, dtype: np.dtype[Any], length: int) -> None:
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (length,)}
    np.lib.format.write_array_header_1_0(file, header)


def _sorted_once(parts: list[Array]) -> Array:
    """Sorted distinct numbers; `np.unique` may hash them, which takes many times longer."""
    numbers = np.sort(np.concatenate(parts))
    return numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])] if numbers.size else numbers


class _Nodes(Sequence[Any]):
    """Names of nodes and their numbers; as a sequence, what messages call a node.

    Whole numbers are their own numbers until all are known, and then become places in sorted order. Texts are
    numbered as they come.
    """

    def __init__(self) -> None:
        self.are_texts: bool | None = None
        self.rename: Callable[[list[str]], list[Any]] = list
        self._known: dict[str, int] = {}
        self._texts: list[str] = []
        self._numbers = np.empty(0, dtype=np.int64)
        self._fresh: list[Array] = []  # sorted numbers that are not yet among the others
        self._n_fresh = 0
        self._is_finished = False

    @classmethod
    def of(cls, names: Sequence[Any]) -> Self:
        """The nodes with these names in this order.

        Whole numbers that are not sorted become texts, and so do names of other kinds, such as tuples.
        """
        nodes = cls()
        whole = isinstance(names, range) or all(isinstance(name, int | np.integer) for name in names)
        array = np.asarray(names) if whole else np.empty(0)
        if array.dtype.kind not in "iu" or not (np.diff(array) > 0).all():
            array = np.array([str(name) for name in names], dtype=object)
        nodes.number(array, array)
        nodes.finish()
        if len(nodes) < len(array):
            raise InputError(
                f"{len(array) - len(nodes)} of the {len(array)} rows have the name of another, written as a "
                "text. Give each row a name of its own, or set names to None."
            )
        return nodes

    def __len__(self) -> int:
        return len(self._texts) if self.are_texts else len(self._numbers)

    def __getitem__(self, number: Any) -> Any:
        if self.are_texts:
            return self._texts[number]
        return int(self._numbers[number]) if self._is_finished else int(number)

    def name_given(self, number: int) -> Any:
        """The name of a node by the number that was given before the end."""
        return self._texts[number] if self.are_texts else number

    def number(self, source: Array, target: Array) -> tuple[Array, Array]:
        """The two ends of edges as numbers."""
        if source.shape != target.shape or source.ndim != 1:
            raise InputError(
                f"Edges have two ends: arrays of one length, got shapes {source.shape} and {target.shape}."
            )
        are_texts = not (source.dtype.kind in "iu" and target.dtype.kind in "iu")
        if len(source) and self.are_texts not in (None, are_texts):
            raise InputTypeError(
                "Some chunks of edges name their nodes by whole numbers, others by texts. Give all as texts."
            )
        if len(source):
            self.are_texts = are_texts
        return self._number_texts(source, target) if are_texts else self._number_numbers(source, target)

    def _number_numbers(self, source: Array, target: Array) -> tuple[Array, Array]:
        for ends in (source, target):
            if ends.size and int(ends.max()) > np.iinfo(np.int64).max:
                raise InputError(
                    f"Node {int(ends.max())} is a number beyond 2⁶³ − 1. Give names of all nodes as texts."
                )
        source, target = source.astype(np.int64), target.astype(np.int64)
        fresh = _sorted_once([source, target])
        self._fresh.append(fresh)
        self._n_fresh += len(fresh)
        if self._n_fresh > len(self._numbers):  # each number is then sorted in a few times in all
            self._join()
        return source, target

    def _join(self) -> None:
        self._numbers = _sorted_once([self._numbers, *self._fresh])
        self._fresh, self._n_fresh = [], 0

    def _number_texts(self, source: Array, target: Array) -> tuple[Array, Array]:
        ends = np.empty(2 * len(source), dtype=object)
        ends[0::2], ends[1::2] = source, target
        known, numbers = self._known, np.empty(len(ends), dtype=np.int64)
        for place, name in enumerate(ends):
            if (number := known.get(name)) is None:
                number = self._add(name)
            numbers[place] = number
        return numbers[0::2], numbers[1::2]

    def _add(self, name: Any) -> int:
        if not isinstance(name, str):
            raise InputTypeError(
                f"Names of nodes are whole numbers or texts; got {name!r:.60}, a {type(name).__name__}."
            )
        self._known[name] = len(self._texts)
        self._texts.append(name)
        return self._known[name]

    def finish(self) -> None:
        """Settle the final numbers, after the last edge."""
        self._join()
        self._known.clear()
        self._is_finished = True
        whole = self._numbers
        self._are_counted = bool(len(whole) and whole[0] == 0 and whole[-1] == len(whole) - 1)

    def places(self, numbers: Array) -> Array:
        """Final numbers for those that were given before the end."""
        if self.are_texts or self._are_counted:
            return numbers
        return np.searchsorted(self._numbers, numbers)

    def write(self, folder: Path) -> dict[str, Any]:
        """Write the names, and return their part of the header; numbers from 0 on are not written."""
        names = self.rename(self._texts) if self.are_texts else self._numbers
        if not isinstance(names[0], str) and self.are_texts and max(map(abs, names)) >= 1 << 63:
            names = self._texts  # such large numbers have no place in names.npy
        if isinstance(names[0], str):
            with (folder / "names.json").open("x", encoding="utf-8") as text:
                json.dump(names, text, ensure_ascii=False, indent=0)
            return {"names": "texts", "names_crc32": zlib.crc32((folder / "names.json").read_bytes())}
        if self._are_counted:
            return {"names": None}
        with (folder / "names.npy").open("xb") as file:
            _write_npy_header(file, np.dtype(np.int64), len(names))
            file.write(np.asarray(names, dtype=np.int64).data)
        return {"names": "numbers", "names_crc32": zlib.crc32((folder / "names.npy").read_bytes())}
