"""The file itself: a zip of JSON and NumPy arrays, each with its checksum, written whole or not at all.

::

    header.json      format, version, and the SHA-256 of the files below
    model.json       the model, with places in the arrays
    arrays/0.npy     numbers of one dtype, one array after the other; a large array has a file to itself

Nothing is compressed: floating-point numbers hardly get smaller, and what is read is never larger than the
file.
"""

from __future__ import annotations

import json
import math
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from symclust._files import replacing
from symclust._types import Array
from symclust.exceptions import InputError

FORMAT = 1  # raised whenever what older files hold is no longer understood
HEADER, MODEL = "header.json", "model.json"
LARGE = 1 << 20  # bytes from which an array gets a file to itself: it is then read without a copy
CHUNK = 1 << 20


class Arrays:
    """Arrays on their way into a file or out of it, one after the other in rows of one dtype."""

    def __init__(self, rows: list[Array] | None = None) -> None:
        self.rows: list[list[Array]] = []  # to be written
        self._sizes: list[int] = []
        self._open: dict[np.dtype[Any], int] = {}
        self._taken: dict[Any, tuple[Array, list[Any]]] = {}
        self._read = rows or []
        self._made: dict[tuple[Any, ...], Array] = {}

    def put(self, array: Array) -> list[Any]:
        """Take an array; return where it will be found: row, start, shape and order in memory.

        Arrays at the same place in memory are taken once, whether they are the same object or views.
        """
        seen = array.ctypes.data, array.shape, array.strides, array.dtype
        if seen not in self._taken:
            self._taken[seen] = array, self._put(array)  # held, lest another comes to lie in its place
        return self._taken[seen][1]

    def _put(self, array: Array) -> list[Any]:
        # Some sums depend on the order in memory in their last bits.
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        flat = np.ascontiguousarray(array.T if order == "F" else array).reshape(-1)
        large = array.nbytes >= LARGE
        row = len(self.rows) if large else self._open.setdefault(array.dtype, len(self.rows))
        if row == len(self.rows):
            self.rows.append([])
            self._sizes.append(0)
        start = self._sizes[row]
        self.rows[row].append(flat)
        self._sizes[row] += flat.size
        return [row, start, list(array.shape), order]

    def get(self, row: int, start: int, shape: list[int], order: str) -> Array:
        """The array of a place, the same object at every call."""
        place = (row, start, tuple(shape), order)
        if place not in self._made:
            self._made[place] = self._cut_out(row, start, shape, order)
        return self._made[place]

    def _cut_out(self, row: int, start: int, shape: list[int], order: str) -> Array:
        size = math.prod(shape)
        if row < 0 or start < 0 or min(shape, default=0) < 0 or start + size > self._read[row].size:
            raise ValueError(f"no array of shape {shape} at {start} of row {row}")
        flat = self._read[row]
        if size != flat.size:
            flat = flat[start : start + size].copy()
        return flat.reshape(shape) if order == "C" else flat.reshape(shape[::-1]).T


# Writing ----------------------------------------------------------------------------------------------------


def write_archive(path: Path, about: dict[str, Any], model: Any, arrays: Arrays) -> None:
    """Write a model; `about` goes into the header."""
    with replacing(path) as file, ZipFile(file, "w", ZIP_STORED) as archive:
        sums = {MODEL: _write(archive, MODEL, [_as_json(model)])}
        for number, row in enumerate(arrays.rows):
            name = f"arrays/{number}.npy"
            parts = [_npy_header(row), *(flat.view(np.uint8) for flat in row if flat.nbytes)]
            sums[name] = _write(archive, name, parts)
        header = {"format": FORMAT, "symclust": version("symclust"), **about, "sha256": sums}
        _write(archive, HEADER, [_as_json(header)])


def _write(archive: ZipFile, name: str, parts: list[Any]) -> str:
    """Write one file of the archive; return its checksum. The same model gives the same bytes."""
    entry, found = ZipInfo(name), sha256()  # dated 1980
    entry.external_attr = 0o644 << 16
    with archive.open(entry, "w", force_zip64=True) as out:
        for part in parts:
            out.write(part)
            found.update(part)
    return found.hexdigest()


def _as_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def _npy_header(row: list[Array]) -> bytes:
    out = BytesIO()
    descr = npy.dtype_to_descr(row[0].dtype)
    shape = (sum(flat.size for flat in row),)
    npy.write_array_header_1_0(out, {"descr": descr, "fortran_order": False, "shape": shape})
    return out.getvalue()


# Reading ----------------------------------------------------------------------------------------------------


def read_archive(file: BinaryIO, size: int) -> tuple[dict[str, Any], Any, Arrays]:
    """Header, model and arrays of a file of that size, all of them checked against their sums."""
    try:
        archive = ZipFile(file)
    except BadZipFile as error:
        raise InputError("it is not a zip file, or was cut off") from error
    with archive:
        entries = _check_entries(archive, size)
        header = json.loads(_read(archive, entries[HEADER]))
        _check_header(header)
        if set(header["sha256"]) != set(entries) - {HEADER}:
            raise InputError("its header does not list the files in it")
        content = {name: _read(archive, entries[name]) for name in header["sha256"]}
    for name, expected in header["sha256"].items():
        if sha256(content[name]).hexdigest() != expected:
            raise InputError(f"the checksum of {name} is wrong, so it was changed or damaged")
    rows = [_from_npy(content[f"arrays/{number}.npy"]) for number in range(len(content) - 1)]
    return header, json.loads(content[MODEL]), Arrays(rows)


def _check_entries(archive: ZipFile, size: int) -> dict[str, ZipInfo]:
    """The files of an archive; one that grows when read, or that no model has, is refused."""
    entries = {entry.filename: entry for entry in archive.infolist()}
    if HEADER not in entries or MODEL not in entries or len(entries) != len(archive.infolist()):
        raise InputError(f"it is a zip file without {HEADER} and {MODEL}")
    packed = any(entry.compress_type != ZIP_STORED or entry.flag_bits & 1 for entry in entries.values())
    if packed or sum(entry.file_size for entry in entries.values()) > size:
        raise InputError("it has packed files in it, which models do not have")
    return entries


def _check_header(header: Any) -> None:
    if not isinstance(header, dict) or not isinstance(header.get("sha256"), dict):
        raise InputError("its header is not that of a model")
    number = header.get("format")
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InputError(f"its header has the format {number!r}, which there has never been")
    if number > FORMAT:
        raise InputError(
            f"it has format {number}, written by symclust {header.get('symclust')}, and this symclust "
            f"{version('symclust')} reads formats up to {FORMAT}: upgrade symclust to read it"
        )


def _read(archive: ZipFile, entry: ZipInfo) -> bytearray:
    """A file of the archive as memory that arrays can be made of."""
    content = bytearray(entry.file_size)
    with archive.open(entry) as file:
        for start in range(0, len(content), CHUNK):
            part = file.read(CHUNK)
            content[start : start + len(part)] = part
        file.read(1)  # zipfile compares its own sum at the end
    return content


def _from_npy(content: bytearray) -> Array:
    """The numbers in a NumPy file, which has to be exactly as long as its header says."""
    file = BytesIO(memoryview(content)[: 1 << 16])
    if npy.read_magic(file) != (1, 0):
        raise ValueError("an array in an unknown version of NumPy's format")
    shape, _, dtype = npy.read_array_header_1_0(file)
    start = file.tell()
    if dtype.hasobject or len(shape) != 1 or start + shape[0] * dtype.itemsize != len(content):
        raise ValueError(f"an array of {dtype} and shape {shape} in {len(content) - start} bytes")
    if start == len(content):  # no numbers, or texts without letters
        return np.zeros(shape, dtype=dtype)
    return np.frombuffer(content, dtype=dtype, offset=start)
