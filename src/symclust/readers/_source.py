"""Sources of bytes: a file, compressed or not, or standard input. Nothing is fetched, nothing is run."""

from __future__ import annotations

import codecs
import difflib
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from symclust._text import showable
from symclust._threads import cached_property
from symclust.exceptions import InputError, InputTypeError, OptionError, SymclustError
from symclust.validation import check_memory

STDIN = "-"
CHUNK = 1 << 22
ROOM = 6  # bytes of memory for a byte of text: itself, its parts, and marks of where fields begin and end
FREE = 1 << 28  # bytes that reading any file may take, however small it is
GROWTH = 300  # more bytes for each of the file: gzip brings text to a tenth, and some of it to a fiftieth
PART = "Read a part of it."
UNPACK = "Read a part of it, or unpack it first if you trust it."
FEWER = "Give a file with less in it."
# Codecs that Python has for names of hosts, mail and its own literals: files are not written in them.
ODD = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")
GZIP = b"\x1f\x8b"
WIDE = ("utf-16", "utf-32")  # zero bytes are part of their letters
MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))

# How files of other formats begin, and what messages call them.
MAGIC = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PAR1": "parquet",
    b"\x89HDF\r\n\x1a\n": "h5ad",
    b"\x89PNG\r\n\x1a\n": "image",
    b"\xff\xd8\xff": "image",
    b"II*\x00": "image",
    b"MM\x00*": "image",
    b"GIF8": "image",
    b"%%MatrixMarket": "matrix_market",
}


def magic_of(head: bytes) -> str | None:
    """The format of a file by its first bytes, or None."""
    return next((name for start, name in MAGIC.items() if head.startswith(start)), None)


@contextmanager
def naming_damage(problem: str) -> Iterator[None]:
    """Raise what a library raises for a damaged file as an InputError: `problem`, and its first line."""
    try:
        yield
    except (SymclustError, MemoryError):
        raise
    except Exception as error:  # parsers have errors of many kinds
        first = str(error).split("\n")[0].rstrip(".")[:200]
        is_bare = not first or isinstance(error, LookupError)
        raise InputError(f"{problem}: {type(error).__name__ + ' ' if is_bare else ''}{first}.") from error


class Source:
    """A file, a folder or standard input, ``"-"``, as messages call it and as readers open it.

    `name` is for messages, `path` None for standard input, `suffix` the end of the name in lower case such as
    ".csv", without a ".gz" behind it, and `notes` are assumptions.
    """

    def __init__(self, path: Any) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InputTypeError(
                f"read takes the path of a file or a folder, or '-' for standard input; got "
                f"{type(path).__name__}."
            )
        self.notes: list[str] = []
        self._texts: dict[str, bytes] = {}  # by encoding
        if not os.fspath(path):
            raise InputError(
                "The path is empty: there is no file to read. Give a file, or '.' for the current folder."
            )
        if path == STDIN:
            self.path, self.name, self.suffix = None, "standard input", ""
            return
        self.path = Path(path)
        self.name = showable(self.path.name or str(self.path))
        ends = [end.lower() for end in self.path.suffixes[-2:]]
        self.suffix = ends[-2] if len(ends) == 2 and ends[-1] == ".gz" else ends[-1] if ends else ""
        _check_exists(self.path, str(path))

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path is not None and self.path.is_dir()

    @cached_property
    def size(self) -> int:
        """Bytes of the file as it is, compressed or not."""
        if self.path is None or self.path.is_fifo():
            return len(self._received)
        return self.path.stat().st_size

    @cached_property
    def _received(self) -> bytes:
        """All that a pipe has brought."""
        if self.path is None:
            return self._read(sys.stdin.buffer, is_unpacked=False)
        with self.path.open("rb") as file:
            return self._read(file, is_unpacked=False)

    def afford(self, size: int, what: str, advice: str = FEWER, room: int = 1) -> None:
        """Refuse `what` if it takes more than the budget for this file, before memory is taken for it.

        Every reader goes through here for what a file declares and for what it decompresses to. The budget
        is the memory that is available, and no more than `FREE` bytes and `GROWTH` times the file itself. The
        `size` is in memory `room` times; `what` is the subject of the message, `advice` its last sentence.
        """
        budget, needed = FREE + GROWTH * self.size, room * size
        if needed > budget:
            raise InputError(
                f"{what} would take {needed / 1e9:.3g} GB of memory; at most {budget / 1e9:.3g} GB are spent "
                f"on a file of {self.size:,} bytes. {advice}"
            )
        check_memory(needed, what, advice)

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed; of a file without reading the rest."""
        with self.open() as file:
            return file.read(4096)

    def open(self) -> IO[bytes]:
        """The decompressed bytes as a file that is read from its beginning on."""
        if self.path is None or self.path.is_fifo() or "data" in self.__dict__:
            return io.BytesIO(self.data)
        is_packed = self._is_gzip()
        return Unpacked(self.path, name=self.name) if is_packed else self.path.open("rb")  # type: ignore[return-value]

    def open_anywhere(self) -> IO[bytes]:
        """The decompressed bytes as a file that is read in any order."""
        return self.open() if self.is_plain else io.BytesIO(self.data)

    def _is_gzip(self) -> bool:
        assert self.path is not None
        with self.path.open("rb") as file:
            return file.read(2) == GZIP

    @property
    def is_plain(self) -> bool:
        """Whether it is a file that libraries can open by its path."""
        return self.path is not None and self.path.is_file() and not self._is_gzip()

    @cached_property
    def data(self) -> bytes:
        """All bytes, decompressed, as long as the budget holds them."""
        if self.path is None or self.path.is_fifo():
            packed = self._received.startswith(GZIP)
            unpacked = Unpacked(io.BytesIO(self._received), name=self.name)
            return self._read(unpacked) if packed else self._received
        self.afford(self.size, f"Reading {self.name}", PART, ROOM)
        with self.open() as file:
            return self._read(file)

    def _read(self, file: Any, is_unpacked: bool = True) -> bytes:
        """All that a file holds; a small one may decompress to more than there is memory."""
        parts, total = [], 0
        while part := file.read(CHUNK):
            parts.append(part)
            total += len(part)
            what = f"{self.name} is too large: reading on after {total / 1e6:,.0f} MB"
            if is_unpacked:
                self.afford(total, what, UNPACK, ROOM)
            else:
                check_memory(ROOM * total, what, PART)
        return b"".join(parts)

    def text(self, encoding: str = "utf-8") -> bytes:
        """The text as UTF-8 with line feeds at the ends of lines; what is not text is refused."""
        encoding = check_encoding(encoding)
        if encoding not in self._texts:
            self._texts[encoding] = self._as_text(encoding)
        return self._texts[encoding]

    def _as_text(self, encoding: str) -> bytes:
        data = self.data
        for mark, known in MARKS:
            if data.startswith(mark):
                encoding = known
                data = data.removeprefix(codecs.BOM_UTF8)
        if b"\0" in data and not encoding.startswith(WIDE):
            form = magic_of(data)
            looks = f" It begins like a file of the format {form!r}." if form else ""
            raise InputError(
                f"{self.name} is not text: byte {data.index(0):,} is zero.{looks} Give it the ending of its "
                f"format, such as {', '.join(ENDINGS)}."
            )
        data = self._as_utf8(data, encoding)
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if not data.strip():
            raise InputError(f"{self.name} is empty: there is nothing to read.")
        return data

    def _as_utf8(self, data: bytes, encoding: str) -> bytes:
        if encoding == "utf-8" and data.isascii():
            return data
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InputError(
                f"{self.name} is not {encoding}: line {line:,} holds the byte 0x{data[error.start]:02x}. Say "
                "what it is, for example encoding='latin-1' or encoding='cp1252'."
            ) from error
        return data if encoding == "utf-8" else text.encode()


class Unpacked(gzip.GzipFile):
    """A gzip file that names the damage when it is read."""

    def __init__(self, file: Any, name: str) -> None:
        super().__init__(**{"fileobj" if isinstance(file, io.BytesIO) else "filename": file}, mode="rb")
        self.called = name  # as messages do

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes."""
        try:
            return super().read(size)
        except EOFError as error:
            raise InputError(
                f"{self.called} is compressed and ends too early: it was cut off. Copy or download it again."
            ) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                f"{self.called} cannot be decompressed: {error}. Copy or download it again."
            ) from error


ENDINGS = (".csv", ".npy", ".npz", ".parquet", ".h5ad", ".png")


def check_encoding(encoding: Any) -> str:
    """The name that Python has for an encoding of text files."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # some codecs are from bytes to bytes
    except (LookupError, TypeError, ValueError):  # no text, or one that cannot be a name
        name = ODD[0]
    if name in ODD:
        raise OptionError(f"encoding={encoding!r} is not known for files; 'utf-8' and 'latin-1' are.")
    return name


def _check_exists(path: Path, given: str) -> None:
    shown = showable(given[:200])
    if "://" in given:
        raise InputError(
            f"{shown!r} is an address: nothing is fetched. Download the file, and give its path."
        )
    try:
        exists, is_special = (
            path.exists(),
            path.is_char_device() or path.is_block_device() or path.is_socket(),
        )
    except (OSError, ValueError) as error:
        raise InputError(f"{shown!r} cannot be a path: {error}.") from error
    if not exists:
        raise InputError(f"{shown!r} does not exist.{_alike(path)}")
    if is_special:
        raise InputError(f"{shown!r} is a device, not a file.")
    if path.is_file() and not os.access(path, os.R_OK):
        raise InputError(f"{shown!r} may not be read: permission denied.")


def _alike(path: Path) -> str:
    """A sentence with names beside the path that it may be a slip for."""
    if not path.parent.is_dir():
        return f" There is no folder {showable(str(path.parent))!r}."
    found = difflib.get_close_matches(path.name, os.listdir(path.parent), 3)
    return f" Did you mean {' or '.join(repr(showable(name)) for name in found)}?" if found else ""
