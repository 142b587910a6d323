"""Arrays: NPY, NPZ (plain, SciPy's, or parts of a sparse matrix), MatrixMarket. Nothing is unpickled."""

from __future__ import annotations

import io
import math
import re
import warnings
import zipfile
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mminfo

from symclust.exceptions import InputError, OptionError
from symclust.readers._pairs import Described, describe_square, kind_of_matrix
from symclust.readers._source import Source, naming_damage
from symclust.validation import check_features

PARTS = ("data", "indices", "indptr", "shape")  # of a compressed sparse matrix
SCIPY = "the matrix of SciPy"
LARGEST_HEADER = 10_000  # characters; NumPy's own limit
LONGEST_HEADER = LARGEST_HEADER + 12  # bytes with what comes before it
ROW = 8  # bytes for a row of a sparse matrix, or a column
ENTRY = 100  # bytes for an entry of MatrixMarket: text, numbers, coordinates and the rows of both halves


def read_npy(source: Source, kind: str = "auto") -> Described:
    """Read one array."""
    with source.open() as file:
        array = _read_array(source, file, source.name)
    return _describe(array, kind, source.name, [])


def _read_array(source: Source, file: Any, name: str) -> np.ndarray:
    """An array of the shape that its header declares, if memory holds it."""
    with naming_damage(f"{name} is not an array saved by NumPy, or is damaged"):
        _check_header(source, file, name)
        file.seek(0)
        return np.lib.format.read_array(file, allow_pickle=False, max_header_size=LARGEST_HEADER)


def _check_header(source: Source, file: Any, name: str) -> None:
    shape, dtype = _read_header(file)
    if dtype.hasobject:
        raise InputError(
            f"{name} holds Python objects, which would be unpickled: that can run any code. Save numbers "
            "instead, for example numpy.save(path, array.astype(float))."
        )
    size = math.prod(shape) * dtype.itemsize
    source.afford(size, f"The array of shape {shape} and dtype {dtype} that {name} declares")


def _read_header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of an array, by its first bytes: NumPy would read a header of any length."""
    start = io.BytesIO(file.read(LONGEST_HEADER))
    is_first = np.lib.format.read_magic(start) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(start, max_header_size=LARGEST_HEADER)
    if min(shape, default=0) < 0:
        raise ValueError(f"the shape {shape} is negative")
    return shape, dtype


def read_npz(source: Source, kind: str = "auto", key: str | None = None) -> Described:
    """Read one matrix of an archive: a dense one, SciPy's sparse one, or one in parts such as ``A_data``."""
    with (
        naming_damage(f"{source.name} is not an archive of arrays, or is damaged"),
        source.open_anywhere() as file,
        zipfile.ZipFile(file) as archive,
    ):
        return _read_archive(source, archive, kind, key)


def _read_archive(source: Source, archive: zipfile.ZipFile, kind: str, key: str | None) -> Described:
    name = source.name
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if not members:
        raise InputError(f"{name} is empty: there is no array in it.")
    known, notes = _matrices(members), list[str]()
    if key is None:
        key = _choose_key(archive, members, known, name, notes)
    if key not in known and key not in members:
        listed = ", ".join(map(repr, [*known, *(other for other in members if other not in known)][:20]))
        raise OptionError(f"key={key!r} is not in {name}. It holds {listed}.")
    parts = known.get(key, [key])
    if len(parts) == 1:
        return _describe(_read_member(source, archive, members[key]), kind, f"{key!r} of {name}", notes)
    return _describe(_read_sparse(source, archive, members, key, parts), kind, f"{key!r} of {name}", notes)


def _matrices(members: dict[str, Any]) -> dict[str, list[str]]:
    """The matrices of an archive by name, each with its members."""
    if {"format", "shape", "data"} <= set(members):
        return {SCIPY: list(members)}
    found: dict[str, list[str]] = {}
    for member in members:
        stem = member.removesuffix("indptr")
        prefix = stem.removesuffix("_")
        parts = [f"{stem}{part}" for part in PARTS]
        if member.endswith("indptr") and all(part in members for part in parts):
            found[prefix] = parts
    taken = {part for parts in found.values() for part in parts}
    return found | {member: [member] for member in members if member not in taken}


def _choose_key(
    archive: zipfile.ZipFile,
    members: dict[str, Any],
    known: dict[str, list[str]],
    name: str,
    notes: list[str],
) -> str:
    """The only matrix; labels, names and other vectors beside it do not count."""
    wide = [k for k, parts in known.items() if len(parts) > 1 or _is_matrix(archive, members[k])]
    if len(wide) != 1 and len(known) > 1:
        listed = ", ".join(map(repr, (wide or list(known))[:20]))
        raise InputError(
            f"{name} holds {len(wide) if wide else 'no matrix but'} {'matrices' if wide else 'arrays'}: "
            f"{listed}. Say which one to read, for example key={(wide or list(known))[0]!r}."
        )
    chosen = wide[0] if wide else next(iter(known))
    if others := [other for other in known if other != chosen]:
        notes.append(f"Read {chosen!r}; also in the file: {', '.join(map(repr, others[:10]))}.")
    return chosen


def _is_matrix(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    with archive.open(member) as file:
        shape, dtype = _read_header(file)
    return len(shape) >= 2 and (dtype.kind in "biufc" or dtype.hasobject)


def _read_member(source: Source, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(member) as file:
        return _read_array(source, file, f"{member.filename} of {source.name}")


def _read_sparse(
    source: Source, archive: zipfile.ZipFile, members: dict[str, Any], key: str, parts: list[str]
) -> sparse.csr_array:
    """A sparse matrix made of its parts, which are believed only after a check."""
    with naming_damage(f"{', '.join(parts)} of {source.name} are not the parts of a sparse matrix"):
        if key == SCIPY:
            for part in parts:
                with archive.open(members[part]) as file:
                    _check_header(source, file, f"{part}.npy of {source.name}")
            assert archive.fp is not None
            archive.fp.seek(0)
            A = sparse.load_npz(archive.fp)
        else:
            data, indices, indptr, shape = (_read_member(source, archive, members[part]) for part in parts)
            A = sparse.csr_array((data, indices, indptr), shape=tuple(map(int, shape.ravel())))
        source.afford(ROW * max(A.shape), f"A matrix of shape {A.shape}, as {source.name} declares,")
        if hasattr(A, "check_format"):
            A.check_format(full_check=True)
        return sparse.csr_array(A)


def _describe(array: Any, kind: str, name: str, notes: list[str]) -> Described:
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"{name} holds entries of dtype {array.dtype}; expected real numbers. Convert them first."
        )
    is_picture = not sparse.issparse(array) and array.ndim == 3 and array.shape[-1] in (3, 4)
    if kind == "image" or (kind == "auto" and is_picture):
        return Described(array, "image", notes=notes)
    if array.ndim != 2:
        raise InputError(
            f"{name} has {array.ndim} dimension{'s' * (array.ndim != 1)}, shape {array.shape}; expected a "
            "matrix with one row per sample. Reshape it, for example array.reshape(len(array), -1)."
        )
    if array.dtype.kind == "f" or kind in ("similarity", "graph"):
        check_features(array, name=name)
    kind = kind_of_matrix(array, name) if kind == "auto" else kind
    if kind in ("similarity", "graph"):
        return describe_square(array, kind, None, name, notes)
    return Described(array, kind, notes=notes)


# MatrixMarket -----------------------------------------------------------------------------------------------

HEADER = re.compile(rb"(?:[ \t]*(?:%.*)?\n)*.*(?:\n|$)")  # down to the line with the size


def read_matrix_market(source: Source, kind: str = "auto") -> Described:
    """Read a MatrixMarket file, sparse or dense. Its indices count from 1."""
    data, name = source.text("latin-1"), source.name
    with naming_damage(f"{name} is not a MatrixMarket file, or is damaged"):
        rows, columns, entries, layout, field, symmetry = mminfo(io.BytesIO(data))
    if field == "complex" or symmetry not in ("general", "symmetric"):
        raise InputError(
            f"{name} holds a {symmetry} matrix of {field} entries; expected a general or symmetric one "
            "of real, integer or pattern entries."
        )
    is_half, is_dense = symmetry == "symmetric", layout == "array"
    _check_size(source, rows, columns, rows * columns // (1 + is_half) if is_dense else entries, is_half)
    header = HEADER.match(data)
    assert header is not None
    dtype = np.int64 if "integer" in field else np.float64
    try:
        numbers = _market_numbers(data[header.end() :], 2 if field == "pattern" else 1 if is_dense else 3)
        if is_dense:
            A = _market_array(numbers.ravel().astype(dtype), rows, columns, is_half)
        else:
            A = _market_entries(numbers, (rows, columns), entries, dtype, is_half)
    except (ValueError, OverflowError, TypeError) as error:
        raise InputError(
            f"{name} is damaged: {str(error).rstrip('.')}. Indices of MatrixMarket count from 1 to "
            f"the size of the matrix, here {rows:,} × {columns:,}."
        ) from error
    if kind == "auto" and is_half and not is_dense and not A.diagonal().any():
        kind = "graph"
    note = f"{symmetry} {layout} matrix of {field} entries, {rows:,} × {columns:,}."
    return _describe(A, kind, name, [note.capitalize()])


def _check_size(source: Source, rows: int, columns: int, entries: int, is_half: bool) -> None:
    name, n_bytes = source.name, len(source.data)
    if is_half and rows != columns:
        raise InputError(
            f"{name} is damaged: it declares a symmetric matrix of {rows:,} × {columns:,}. Symmetric ones "
            "are square."
        )
    if 2 * entries > n_bytes:  # a digit and the end of its line
        raise InputError(
            f"{name} is cut off: it announces {entries:,} entries, for which {n_bytes:,} bytes are too few."
        )
    source.afford(
        ROW * max(rows, columns) + ENTRY * entries, f"A matrix of {rows:,} × {columns:,}, as {name} declares,"
    )


def _market_numbers(body: bytes, width: int) -> np.ndarray:
    """The numbers below the header, by NumPy.

    `scipy.io.mmread` is faster, and ends the whole process on some damaged files; `mminfo` does not.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a matrix without entries
        return np.loadtxt(io.BytesIO(body), dtype=np.float64, comments="%", ndmin=2).reshape(-1, width)


def _market_array(values: np.ndarray, rows: int, columns: int, is_half: bool) -> np.ndarray:
    """A dense matrix from its columns; those of a symmetric one begin at the diagonal."""
    if not is_half:
        return values.reshape(columns, rows).T
    A = np.zeros((columns, rows), dtype=values.dtype)
    A[np.triu_indices(columns)] = values
    return A + A.T - np.diag(A.diagonal())


def _market_entries(
    numbers: np.ndarray, shape: tuple[int, int], entries: int, dtype: Any, is_half: bool
) -> sparse.csr_array:
    if len(numbers) != entries:
        raise ValueError(f"expected {entries:,} entries, found {len(numbers):,}")
    places = numbers[:, :2]
    right = ((places == np.floor(places)) & (places >= 1) & (places <= shape)).all(axis=1)
    if not right.all():
        first = int(right.argmin())
        raise ValueError(f"entry {first + 1:,} is at row {places[first, 0]:g}, column {places[first, 1]:g}")
    i, j = places.T.astype(np.int64) - 1
    values = (numbers[:, 2] if numbers.shape[1] == 3 else np.ones(entries)).astype(dtype)
    W = sparse.csr_array(sparse.coo_array((values, (i, j)), shape=shape))
    return sparse.csr_array(W + W.T - sparse.diags_array(W.diagonal())) if is_half else W
