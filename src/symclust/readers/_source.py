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
DAMAGE = (gzip.BadGzipFile, EOFError, zlib.error)
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
        raise InputError(f"{problem}: {first}.") from error


class Source:
    """A file, a folder or standard input, as messages call it and as readers open it.

    Parameters
    ----------
    path : str or PathLike
        ``"-"`` is standard input.

    Attributes
    ----------
    name : str
        As messages call it.
    path : Path or None
        None for standard input.
    suffix : str
        The end of its name in lower case, such as ".csv", without a ".gz" behind it.
    notes : list of str
        Assumptions about it.
    """

    def __init__(self, path: Any) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InputTypeError(
                f"read takes the path of a file or a folder, or '-' for standard input; got "
                f"{type(path).__name__}."
            )
        self.notes: list[str] = []
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
        is the memory that is available, and no more than `FREE` bytes and `GROWTH` times the file itself.

        Parameters
        ----------
        size : int
            Bytes that it takes.
        what : str
            Subject of the message; it names the file.
        advice : str
            The cure, as a sentence.
        room : int
            How many times the bytes are in memory.
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
            return self.take(file, 4096)

    def take(self, file: Any, size: int) -> bytes:
        """The next bytes of a file that was opened here; a stream that cannot go on is refused."""
        try:
            return file.read(size)
        except DAMAGE as error:
            raise self._damaged(error) from error

    def fill(self, file: Any, out: Any) -> int:
        """Read the next bytes of a file into an array of bytes; return how many there were."""
        view, count = memoryview(out), 0
        try:
            while count < len(view) and (read := file.readinto(view[count : count + CHUNK])):
                count += read
            file.read(1)  # compares the checksum where that was the end
        except DAMAGE as error:
            raise self._damaged(error, count) from error
        return count

    def open(self) -> IO[bytes]:
        """The decompressed bytes as a file that is read from its beginning on."""
        if self.path is None or self.path.is_fifo() or "data" in self.__dict__:
            return io.BytesIO(self.data)
        return gzip.open(self.path) if self._is_gzip() else self.path.open("rb")  # type: ignore[return-value]

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
            return self._read(gzip.GzipFile(fileobj=io.BytesIO(self._received))) if packed else self._received
        self.afford(self.size, f"Reading {self.name}", PART, ROOM)
        with self.open() as file:
            return self._read(file)

    def _read(self, file: Any, is_unpacked: bool = True) -> bytes:
        """All that a file holds; a small one may decompress to more than there is memory."""
        parts, total = [], 0
        for part in self.parts(file):
            parts.append(part)
            total += len(part)
            what = f"{self.name} is too large: reading on after {total / 1e6:,.0f} MB"
            if is_unpacked:
                self.afford(total, what, UNPACK, ROOM)
            else:
                check_memory(ROOM * total, what, PART)
        return b"".join(parts)

    def parts(self, file: Any, size: int = CHUNK) -> Iterator[bytes]:
        """Yield the content of a file that was opened here, some bytes at a time."""
        total = 0
        try:
            while part := file.read(size):
                total += len(part)
                yield part
        except DAMAGE as error:
            raise self._damaged(error, total) from error

    def _damaged(self, error: Exception, total: int = 0) -> InputError:
        if isinstance(error, EOFError):
            return InputError(
                f"{self.name} is compressed and ends too early, after {total:,} bytes of content: it was cut "
                "off. Copy or download it again."
            )
        return InputError(f"{self.name} cannot be decompressed: {error}. Copy or download it again.")

    def text(self, encoding: str = "utf-8") -> bytes:
        """The text as UTF-8 with line feeds at the ends of lines; what is not text is refused."""
        encoding = check_encoding(encoding)
        data = self.data
        for mark, known in MARKS:
            if data.startswith(mark):
                encoding = known
                data = data.removeprefix(codecs.BOM_UTF8)
        if not encoding.startswith(WIDE):
            self._refuse_binary(data)
        data = self._as_utf8(data, encoding)
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if not data.strip():
            raise InputError(f"{self.name} is empty: there is nothing to read.")
        return data

    def _refuse_binary(self, data: bytes) -> None:
        if b"\0" in data:
            known = magic_of(data)
            looks = f" It begins like a file of the format {known!r}." if known else ""
            raise InputError(
                f"{self.name} is not text: byte {data.index(0):,} is zero.{looks} Give it the ending of its "
                f"format, such as {', '.join(ENDINGS)}."
            )

    def _as_utf8(self, data: bytes, encoding: str) -> bytes:
        try:
            if encoding == "utf-8":
                _check_utf8(data)
                return data
            return data.decode(encoding).encode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InputError(
                f"{self.name} is not {encoding}: line {line:,} holds the byte 0x{data[error.start]:02x}. Say "
                "what it is, for example encoding='latin-1' or encoding='cp1252'."
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


def _check_utf8(data: bytes) -> None:
    """Raise UnicodeDecodeError with the place in all of the data; the text is not kept."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), CHUNK):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(data[start : start + CHUNK], final=start + CHUNK >= len(data))
        except UnicodeDecodeError as error:
            error.start += start - pending
            raise


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
