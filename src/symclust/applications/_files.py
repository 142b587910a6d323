"""Folders of text files and files of JSON lines, read as text and nothing else."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symclust.applications._corpus import Corpus
from symclust.exceptions import InputError, OptionError

__all__ = ["is_json_lines", "read_folder", "read_json_lines"]

JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
LISTED = 5  # names in a note
WIDE = ("utf-16", "utf-32", "utf_16", "utf_32")  # zero bytes are part of their letters


def read_folder(folder: Path, encoding: str) -> Corpus:
    """Return the text files below a folder, in the order of their paths.

    Hidden files and folders and symbolic links are skipped, and so, with a note, are files with zero bytes in
    them: they are not text. Bytes that are none in `encoding` become U+FFFD, with a note.
    """
    corpus = Corpus([], [])
    binary, damaged = [], []
    for path in sorted(_visible_files(folder), key=lambda path: path.relative_to(folder).parts):
        data, name = path.read_bytes(), path.relative_to(folder).as_posix()
        if b"\0" in data and not _is_wide(encoding):
            binary.append(name)
            continue
        text, is_damaged = _decode(data, encoding)
        damaged += [name] * is_damaged
        _add(corpus, text, name)
    _note(corpus, binary, "skipped: zero bytes in them, so they are no text files")
    _note(corpus, damaged, f"contained bytes that are not {encoding}; they were replaced by U+FFFD")
    if not corpus.texts:
        raise InputError(
            f"No text files were found below {str(folder)!r}: hidden ones and links do not count."
        )
    return corpus


def _visible_files(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path


def is_json_lines(path: Path) -> bool:
    """Whether a file is named as one of JSON lines."""
    return path.name.lower().endswith(JSON_LINES)


def read_json_lines(path: Path, text_key: str, encoding: str) -> Corpus:
    """Return the documents of a file with one JSON value a line: a string, or an object with `text_key`."""
    if _is_wide(encoding):
        raise OptionError(
            f"encoding={encoding!r} is not possible for JSON lines, which end in single bytes: convert "
            f"{path.name} to UTF-8."
        )
    corpus = Corpus([], [])
    damaged: list[str] = []
    keys: set[str] = set()
    has_text = False
    for number, data in enumerate(_lines(path), start=1):
        line, is_damaged = _decode(data, encoding)
        line = line.removeprefix("\ufeff")
        if not line.strip():
            continue
        value = _parse(line, path, number)
        damaged += [f"line {number}"] * is_damaged
        keys |= set(value) if isinstance(value, dict) else set()
        text = _text(value, text_key, f"line {number} of {path.name}")
        has_text |= text is not None
        _add(corpus, text or "", f"line {number}")
    if not has_text:
        found = f"; its keys are {', '.join(map(repr, sorted(keys)))}" if keys else ""
        raise InputError(f"{path.name} has no line with the key {text_key!r}{found}. Choose one by text_key.")
    _note(corpus, damaged, f"contained bytes that are not {encoding}; they were replaced by U+FFFD")
    return corpus


def _lines(path: Path) -> Iterator[bytes]:
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opener(path, "rb") as file:
            yield from file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path.name} cannot be decompressed: {error}.") from error


def _parse(line: str, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"Line {number} of {path.name} is not JSON: {error}.") from error


def _text(value: Any, text_key: str, where: str) -> str | None:
    if isinstance(value, dict):
        value = value.get(text_key)
    if value is None or isinstance(value, str):
        return value
    raise InputError(f"{where} holds a {type(value).__name__} where a string is due (key {text_key!r}).")


def _is_wide(encoding: str) -> bool:
    return str(encoding).lower().startswith(WIDE)


def _decode(data: bytes, encoding: str) -> tuple[str, bool]:
    try:
        return data.decode(encoding), False
    except UnicodeDecodeError:
        return data.decode(encoding, errors="replace"), True
    except (LookupError, TypeError) as error:
        raise OptionError(f"encoding={encoding!r} is not known; 'utf-8' and 'latin-1' are.") from error


def _add(corpus: Corpus, text: str, name: str) -> None:
    assert corpus.texts is not None
    corpus.texts.append(text.removeprefix("\ufeff"))
    corpus.names.append(name)


def _note(corpus: Corpus, names: list[str], what: str) -> None:
    if names:
        listed = ", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else "")
        corpus.notes.append(f"{len(names)} of the inputs {what} ({listed}).")
