"""Documents: a folder of text files, JSON lines, a table with a column of texts, or one document per line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from symclust._text import showable
from symclust.exceptions import InputError, OptionError
from symclust.readers._delimited import is_number, lay_out, parse, take_sample
from symclust.readers._pairs import Described
from symclust.readers._source import PART, WIDE, Source, check_encoding
from symclust.readers.tables import AUTO, find_ids, name_columns, take_ids
from symclust.validation import check_memory

TEXT_NAMES = ("text", "body", "content", "abstract", "document", "texts", "description", "message")
LISTED = 5  # names in a note
LONG, WORDS = 40, 5  # letters and words that a text has on average, and a name or category has not
LINE = 250  # bytes of memory for a document beside its letters: two texts and their places


@dataclass
class Texts:
    """Documents with names, and what was noticed while reading them."""

    texts: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, text: str, name: str) -> None:
        """Add a document."""
        self.texts.append(text.removeprefix("\ufeff"))
        self.names.append(name)

    def note(self, what: str, names: list[str]) -> None:
        """Note what was noticed about some documents, if there are such."""
        if names:
            listed = ", ".join(map(showable, names[:LISTED]))
            more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
            self.notes.append(f"{what}{listed}{more}.")

    def described(self) -> Described:
        """The documents by name, in their order, as `topics` takes them."""
        return Described(dict(zip(self.names, self.texts, strict=True)), "texts", self.names, self.notes)


# A folder ---------------------------------------------------------------------------------------------------


def read_folder(source: Source, kind: str = "texts", encoding: str = "utf-8") -> Described:
    """Read the text files below a folder; names are their paths inside it."""
    assert source.path is not None
    return folder_texts(source.path, encoding).described()


def folder_texts(folder: Path, encoding: str) -> Texts:
    """The text files below a folder, in the order of their paths.

    Hidden files and folders and symbolic links are skipped, and so, with a note, are files with zero bytes in
    them: they are not text. Bytes that are not `encoding` become U+FFFD, with a note.
    """
    encoding, found = check_encoding(encoding), Texts()
    binary, damaged = [], []
    paths = sorted(_visible_files(folder), key=lambda path: path.relative_to(folder).parts)
    sizes = sum(path.stat().st_size for path in paths)
    check_memory(
        2 * sizes + LINE * len(paths), f"The {len(paths):,} files below {showable(str(folder))!r}", PART
    )
    for path in paths:
        data, name = path.read_bytes(), path.relative_to(folder).as_posix()
        if b"\0" in data and not encoding.startswith(WIDE):
            binary.append(name)
            continue
        text, is_damaged = _decode(data, encoding)
        damaged += [name] * is_damaged
        found.add(text, name)
    found.note("Skipped, since text has no zero bytes: ", binary)
    found.note(f"Bytes that are not {encoding} were replaced by U+FFFD in ", damaged)
    if not found.texts:
        raise InputError(
            f"There are no text files below {showable(str(folder))!r}; hidden files and links are skipped."
        )
    return found


def _visible_files(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path


# JSON lines -------------------------------------------------------------------------------------------------


def read_json_lines(
    source: Source,
    kind: str = "texts",
    text_column: str | None = None,
    id_column: Any = AUTO,
    encoding: str = "utf-8",
) -> Described:
    """Read JSON lines: strings, or objects with a text each."""
    source.text(encoding)  # refuses what is not text
    return json_texts(source, text_column, encoding, "text_column", id_column).described()


def json_texts(
    source: Source, text_key: str | None, encoding: str, option: str = "text_key", id_key: Any = None
) -> Texts:
    """The documents of a file with one JSON value per line: a string, or an object with `text_key`.

    `option` is what the user calls that key; None for one of the usual keys, or the only one with long texts.
    They are named by `id_key`, or by their lines.
    """
    if check_encoding(encoding).startswith(WIDE):
        raise OptionError(
            f"encoding={encoding!r} is not possible for JSON lines, which end in a single byte: convert "
            f"{source.name} to UTF-8."
        )
    values, damaged = _values(source, encoding)
    objects = [value for value in values.values() if isinstance(value, dict)]
    keys = list(dict.fromkeys(key for value in objects for key in value))
    found = Texts()
    if text_key is None:
        text_key = _guess_key(objects[:50], source.name)
        found.notes.append(f"Texts are under the key {text_key!r}.")
    has_text = False
    for line, value in values.items():
        text = value.get(text_key) if isinstance(value, dict) else value
        if text is not None and not isinstance(text, str):
            raise InputError(
                f"{line} of {source.name} holds a {type(text).__name__}, not a string, under the key "
                f"{text_key!r}."
            )
        has_text |= text is not None
        found.add(text or "", line)
    if not has_text:
        there = f"; its keys are {', '.join(map(repr, sorted(keys)))}" if keys else ""
        raise InputError(
            f"{source.name} has no line with the key {text_key!r}{there}. Name the right one by {option}."
        )
    found.note(f"Bytes that are not {encoding} were replaced by U+FFFD in ", damaged)
    if id_key is not None and id_key is not False:
        _name_by_key(found, list(values.values()), id_key, source.name)
    return found


def _values(source: Source, encoding: str) -> tuple[dict[str, Any], list[str]]:
    """The value of each line that is not blank, by its name, and the lines in which bytes were replaced."""
    values: dict[str, Any] = {}
    damaged = []
    _afford_lines(source, source.data)
    for number, data in enumerate(source.data.split(b"\n"), start=1):
        text, is_damaged = _decode(data, encoding)
        text, line = text.removeprefix("\ufeff"), f"line {number}"
        damaged += [line] * is_damaged
        if text.strip():
            try:
                values[line] = json.loads(text)
            except (
                ValueError,
                RecursionError,
            ) as error:  # ValueError: also of numbers with thousands of digits
                raise InputError(f"Line {number} of {source.name} is not JSON: {error}.") from error
    return values, damaged


def _afford_lines(source: Source, data: bytes) -> None:
    """Refuse more lines than memory holds as texts, each of which takes more than its letters."""
    lines = data.count(b"\n")
    source.afford(LINE * lines + 4 * len(data), f"The texts in the {lines:,} lines of {source.name}", PART)


def _guess_key(objects: list[dict[str, Any]], name: str) -> str:
    keys = list(dict.fromkeys(key for value in objects for key in value))
    rows = [[text if isinstance(text := value.get(key), str) else "" for key in keys] for value in objects]
    place = find_text_column(keys, rows)
    if place is None and keys:
        listed = ", ".join(map(repr, keys[:10]))
        raise InputError(f"Which key of {name} holds the texts? It has {listed}. Say text_column='...'.")
    return TEXT_NAMES[0] if place is None else keys[place]


def _name_by_key(found: Texts, values: list[Any], id_key: Any, name: str) -> None:
    """Name the documents by a key that each has with another value, "id" or "name" if none is given."""
    for key in ("id", "name") if id_key == AUTO else (id_key,):
        names = [value.get(key) if isinstance(value, dict) else None for value in values]
        texts = [str(name) for name in names if isinstance(name, str | int)]
        if len(set(texts)) == len(values):
            found.names = texts
            found.notes.append(f"Documents are named by the key {key!r}.")
            return
    if id_key != AUTO:
        raise InputError(f"{name}: not every line has a value of its own under the key {id_key!r}.")


# Tables and lines -------------------------------------------------------------------------------------------


def read_text_table(
    source: Source,
    kind: str = "texts",
    text_column: str | None = None,
    id_column: Any = AUTO,
    delimiter: str | None = None,
    header: bool | str = AUTO,
    encoding: str = "utf-8",
) -> Described:
    """Read one column of a delimited text."""
    data = source.text(encoding)
    layout = lay_out(take_sample(data, source.name), source.suffix, delimiter)
    names, has_header, notes = name_columns(layout, header, source.name)
    place = find_text_column(names, layout.rows[has_header:]) if text_column is None else None
    if text_column in names:
        place = names.index(text_column)
    if place is None:
        what = (
            "Which column holds the texts" if text_column is None else f"There is no column {text_column!r}"
        )
        listed = ", ".join(map(repr, names[:10]))
        raise InputError(f"{source.name}: {what}? It has {listed}. Say text_column='...'.")
    if text_column is None:
        notes.append(f"Texts are in column {names[place]!r}.")
    others, is_sure = find_ids(names if has_header else None, layout, id_column, source.name)
    frame = parse(data, layout, names, has_header, dict.fromkeys(range(len(names)), str), source)
    ids = None if others in (None, place) else take_ids(frame.iloc[:, others], source.name, is_sure, notes)
    empty = int(frame.iloc[:, place].isna().sum())
    if empty:
        notes.append(f"{empty:,} document{'s have' if empty > 1 else ' has'} no text.")
    texts = frame.iloc[:, place].fillna("").tolist()
    labels = [f"row {row + 1}" for row in range(len(texts))] if ids is None else [str(name) for name in ids]
    return Texts(texts, labels, [*layout.notes, *notes]).described()


def find_text_column(names: list[Any], rows: list[list[str]]) -> int | None:
    """The place of the column of texts: one called so, or the only one with long texts, else None."""
    called = [str(name).strip().lower() for name in names]
    for word in TEXT_NAMES:
        if word in called and not all(
            is_number(row[called.index(word)]) for row in rows if len(row) == len(called)
        ):
            return called.index(word)
    columns = [[row[place] for row in rows if len(row) > place] for place in range(len(names))]
    long = [place for place, fields in enumerate(columns) if fields and _is_long(fields)]
    return long[0] if len(long) == 1 else None


def _is_long(fields: list[str]) -> bool:
    return bool(
        np.mean([len(f) for f in fields]) >= LONG and np.mean([len(f.split()) for f in fields]) >= WORDS
    )


def read_lines(source: Source, kind: str = "texts", encoding: str = "utf-8") -> Described:
    """Read one document per line; blank lines are none."""
    found, data = Texts(), source.text(encoding)
    _afford_lines(source, data)
    for number, line in enumerate(data.decode("utf-8").split("\n"), start=1):
        if line.strip():
            found.add(line.strip(), f"line {number}")
    found.notes.append(f"Each of {len(found.texts):,} lines is a document.")
    return found.described()


def _decode(data: bytes, encoding: str) -> tuple[str, bool]:
    try:
        return data.decode(encoding), False
    except UnicodeDecodeError:
        return data.decode(encoding, errors="replace"), True
