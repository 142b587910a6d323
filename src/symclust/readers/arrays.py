"""Arrays: NPY, NPZ (plain, SciPy's, or parts of a sparse matrix), MatrixMarket. Nothing is unpickled."""

from __future__ import annotations

import io
import math
import re
import warnings
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from symclust.exceptions import InputError, OptionError
from symclust.readers._pairs import Described, describe_square, kind_of_matrix
from symclust.readers._source import Source, naming_damage
from symclust.validation import check_features

__all__ = ["read_matrix_market", "read_npy", "read_npz"]

PARTS = ("data", "indices", "indptr", "shape")  # of a compressed sparse matrix
SCIPY = "the matrix of SciPy"
LARGEST_HEADER = 10_000  # characters; NumPy's own limit
LONGEST_HEADER = LARGEST_HEADER + 12  # bytes with what comes before it
ROW = 8  # bytes for a row of a sparse matrix, or a column
ENTRY = 100  # bytes for an entry of MatrixMarket: text, numbers, coordinates and the rows of both halves
FIELDS = ("real", "integer", "pattern", "double", "unsigned-integer")


def read_npy(source: Source, kind: str = "auto") -> Described:
    """Read one array."""
    with source.open() as file:
        array = _read_array(source, file, source.name)
    return _describe(array, kind, source.name, [])


def _read_array(source: Source, file: Any, name: str) -> np.ndarray:
    """An array of the shape that its header declares, if so many bytes follow."""
    start = source.take(file, LONGEST_HEADER)
    shape, is_fortran, dtype, offset = _read_header(start, name)
    if dtype.hasobject:
        raise InputError(
            f"{name} holds Python objects, which would be unpickled: that can run any code. Save numbers "
            "instead, for example numpy.save(path, array.astype(float))."
        )
    wanted = math.prod(shape) * dtype.itemsize
    source.afford(wanted, f"The array of shape {shape} and dtype {dtype} that {name} declares")
    data, first = np.empty(wanted, dtype=np.uint8), start[offset : offset + wanted]
    data[: len(first)] = np.frombuffer(first, dtype=np.uint8)
    there = len(first) + source.fill(file, data[len(first) :])
    if there < wanted:
        raise InputError(
            f"{name} is damaged: its header promises {wanted:,} bytes, an array of shape {shape} and dtype "
            f"{dtype}, but {there:,} are there. Save it again."
        )
    try:
        return data.view(dtype).reshape(shape, order="F" if is_fortran else "C")
    except (TypeError, ValueError) as error:  # entries without bytes, or more of them than can be counted
        raise InputError(f"{name} holds an array of shape {shape} and dtype {dtype}: {error}.") from error


def _read_header(start: bytes, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, order, dtype and where the numbers begin, by the first bytes of an array."""
    file = io.BytesIO(start)
    with naming_damage(f"{name} is not an array saved by NumPy, or is damaged"):
        is_first = np.lib.format.read_magic(file) == (1, 0)
        read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
        shape, is_fortran, dtype = read(file, max_header_size=LARGEST_HEADER)
        if min(shape, default=0) < 0:
            raise ValueError(f"the shape {shape} is negative")
    return shape, is_fortran, dtype, file.tell()


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
    notes: list[str] = []
    if key is None:
        key = _choose_key(source, archive, members, notes)
    known = _matrices(members)
    if key not in known and key not in members:
        listed = ", ".join(map(repr, [*known, *(other for other in members if other not in known)][:20]))
        raise OptionError(f"key={key!r} is not in {name}. It holds {listed}.")
    if key == SCIPY:
        return _describe(_read_scipy(source, archive, members), kind, name, notes)
    parts = known.get(key, [key])
    arrays = [_read_member(source, archive, members[part]) for part in parts]
    matrix = arrays[0] if len(arrays) == 1 else _assemble(source, "csr", arrays, parts)
    return _describe(matrix, kind, f"{key!r} of {name}", notes)


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


def _choose_key(source: Source, archive: zipfile.ZipFile, members: dict[str, Any], notes: list[str]) -> str:
    """The only matrix; labels, names and other vectors beside it do not count."""
    name, known = source.name, _matrices(members)
    wide = [k for k, parts in known.items() if len(parts) > 1 or _is_matrix(archive, members[k], name)]
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


def _is_matrix(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> bool:
    with archive.open(member) as file:
        shape, _, dtype, _ = _read_header(file.read(LONGEST_HEADER), f"{member.filename} of {name}")
    return len(shape) >= 2 and (dtype.kind in "biufc" or dtype.hasobject)


def _read_member(source: Source, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(member) as file:
        return _read_array(source, file, f"{member.filename} of {source.name}")


def _read_scipy(source: Source, archive: zipfile.ZipFile, members: dict[str, Any]) -> sparse.csr_array:
    """The matrix that `scipy.sparse.save_npz` has written."""
    form = _read_member(source, archive, members["format"]).tobytes().strip(b"\0").decode("latin-1")
    parts = {"csr": PARTS, "csc": PARTS, "coo": ("data", "row", "col", "shape")}.get(form)
    if parts is None or not set(parts) <= set(members):
        raise InputError(
            f"{source.name} holds a sparse matrix in the format {form!r:.40}. Save it as CSR: A.tocsr()."
        )
    return _assemble(source, form, [_read_member(source, archive, members[part]) for part in parts], parts)


def _assemble(source: Source, form: str, arrays: list[np.ndarray], parts: Sequence[str]) -> sparse.csr_array:
    """A sparse matrix made of its parts, which are believed only after a check."""
    data, first, second, shape = arrays
    make = {"csr": sparse.csr_array, "csc": sparse.csc_array, "coo": sparse.coo_array}[form]
    sides = tuple(int(side) for side in shape.ravel()) if shape.dtype.kind in "iu" else ()
    source.afford(ROW * max(sides, default=0), f"A matrix of shape {sides}, as {source.name} declares,")
    try:
        inner = (data, (first, second)) if form == "coo" else (data, first, second)
        A = make(inner, shape=sides)
        if form != "coo":  # whose constructor checks all
            A.check_format(full_check=True)
        return sparse.csr_array(A)
    except (ValueError, TypeError, OverflowError) as error:
        listed = ", ".join(parts)
        raise InputError(
            f"{listed} of {source.name} are not the parts of a sparse matrix: {error}."
        ) from error


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

BANNER = re.compile(rb"%%MatrixMarket\s+matrix\s+(\S+)\s+(\S+)\s+(\S+)\s*\n", re.IGNORECASE)


def read_matrix_market(source: Source, kind: str = "auto") -> Described:
    """Read a MatrixMarket file, sparse or dense. Its indices count from 1."""
    data = source.text("latin-1")
    notes: list[str] = []
    layout, field, symmetry, size, start = _market_header(data, source.name)
    _check_market(source, layout, field, symmetry, size, len(data))
    try:
        A = _market_matrix(data[start:], layout, field, symmetry, size)
    except (ValueError, OverflowError, TypeError) as error:
        raise InputError(
            f"{source.name} is damaged: {str(error).rstrip('.')}. Indices of MatrixMarket count from 1 to "
            f"the size of the matrix, here {size[0]:,} × {size[1]:,}."
        ) from error
    if kind == "auto" and symmetry == "symmetric" and layout == "coordinate" and not A.diagonal().any():
        kind = "graph"
    notes.append(
        f"{symmetry} {layout} matrix of {field} entries, {A.shape[0]:,} × {A.shape[1]:,}.".capitalize()
    )
    return _describe(A, kind, source.name, notes)


def _market_matrix(body: bytes, layout: str, field: str, symmetry: str, size: tuple[int, ...]) -> Any:
    """The matrix below the line with its size.

    By NumPy's parser: `scipy.io.mmread` is faster, and ends the whole process on some damaged files.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a matrix without entries
        numbers = np.loadtxt(io.BytesIO(body), dtype=np.float64, comments="%", ndmin=2)
    if layout == "array":
        return _market_array(numbers.ravel(), symmetry, size).astype(
            np.int64 if "integer" in field else float
        )
    width = 2 if field == "pattern" else 3
    if numbers.shape != (size[2], width) and (size[2] > 0 or numbers.size):
        raise ValueError(f"expected {size[2]:,} lines of {width} numbers, found {len(numbers):,}")
    _check_indices(numbers[:, :2] if size[2] else np.ones((0, 2)), size)
    i, j = (numbers[:, column].astype(np.int64) - 1 for column in range(2)) if size[2] else ([], [])
    values = numbers[:, 2] if width == 3 and size[2] else np.ones(size[2])
    A = sparse.coo_array((values.astype(np.int64) if "integer" in field else values, (i, j)), shape=size[:2])
    A = sparse.csr_array(A)
    return A if symmetry == "general" else sparse.csr_array(A + A.T - sparse.diags_array(A.diagonal()))


def _check_indices(places: Any, size: tuple[int, ...]) -> None:
    right = ((places == np.floor(places)) & (places >= 1) & (places <= size[:2])).all(axis=1)
    if not right.all():
        first = int(right.argmin())
        raise ValueError(f"entry {first + 1:,} is at row {places[first, 0]:g}, column {places[first, 1]:g}")


def _market_array(values: Any, symmetry: str, size: tuple[int, ...]) -> Any:
    """A dense matrix from its columns; those of a symmetric one begin at the diagonal."""
    rows, columns = size[:2]
    if symmetry == "general":
        return values.reshape(columns, rows).T  # raises ValueError where there are more or fewer
    A = np.zeros((columns, rows))
    A[np.triu_indices(columns, 0, rows)] = values
    return A + A.T - np.diag(A.diagonal())


def _market_header(data: bytes, name: str) -> tuple[str, str, str, tuple[int, ...], int]:
    banner = BANNER.match(data)
    if banner is None:
        raise InputError(
            f"{name} does not begin with a line such as '%%MatrixMarket matrix coordinate real symmetric': "
            "it is not a MatrixMarket file."
        )
    start = banner.end()
    while data[start : start + 1] in (b"%", b"\n") and start < len(data):
        start = data.find(b"\n", start) + 1 or len(data)
    line = data[start : start + 200].split(b"\n")[0].split()
    layout, field, symmetry = (word.decode("latin-1").lower() for word in banner.groups())
    if len(line) != (3 if layout == "coordinate" else 2) or not all(
        re.fullmatch(rb"\d{1,18}", word) for word in line
    ):
        shown = b" ".join(line)[:60].decode("latin-1")
        raise InputError(
            f"{name} has no line with the size of the matrix where it should be; found {shown!r}. Expected "
            "rows, columns and, for a coordinate matrix, entries."
        )
    end = data.find(b"\n", start) + 1 or len(data)
    return layout, field, symmetry, tuple(map(int, line)), end


def _check_market(
    source: Source, layout: str, field: str, symmetry: str, size: tuple[int, ...], n_bytes: int
) -> None:
    name, (rows, columns) = source.name, size[:2]
    if layout not in ("coordinate", "array") or field not in FIELDS:
        raise InputError(
            f"{name} holds a {layout} matrix of {field} entries; expected coordinate or array, of real, "
            "integer or pattern entries."
        )
    if symmetry not in ("general", "symmetric"):
        raise InputError(f"{name} holds a {symmetry} matrix; expected general or symmetric.")
    if symmetry == "symmetric" and rows != columns:
        raise InputError(
            f"{name} is damaged: it declares a symmetric matrix of {rows:,} × {columns:,}. Symmetric ones "
            "are square."
        )
    entries = size[2] if layout == "coordinate" else rows * columns // (2 if symmetry == "symmetric" else 1)
    least = 2 * entries  # bytes: a digit and the end of its line
    if least > n_bytes:
        raise InputError(
            f"{name} is cut off: it announces {entries:,} entries, for which {n_bytes:,} bytes are too few."
        )
    source.afford(
        ROW * max(rows, columns) + ENTRY * entries, f"A matrix of {rows:,} × {columns:,}, as {name} declares,"
    )
