"""Documents, read from strings, a folder of text files, JSON lines, or a matrix of counts."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from scipy import sparse

from symclust._text import showable
from symclust.applications._markup import without_addresses, without_markup
from symclust.exceptions import InputError, InputTypeError, OptionError
from symclust.validation import check_features, is_missing

__all__ = ["Corpus", "read_corpus"]

EXPECTED = (
    "Give a list of strings, a dict of names and strings, the path of a folder of text files or of a .jsonl "
    "or .jsonl.gz file, or a documents × terms matrix of counts."
)
JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
LISTED = 5  # names in a note
WIDE = ("utf-16", "utf-32", "utf_16", "utf_32")  # zero bytes are part of their letters


@dataclass
class Corpus:
    """Documents with names, and what was noticed while reading them.

    Attributes
    ----------
    texts : list of str or None
        None where a matrix of counts was given.
    names : list of str
        One for each document: its number, its file, or its line.
    notes : list of str
        Sentences for the user.
    counts : csr_array or None
        Documents × terms, where that is what was given.
    terms : list of str or None
        The names of its columns, if they have any.
    clean : bool
        Whether texts are without markup, and addresses in them no words.
    """

    texts: list[str] | None
    names: list[str]
    notes: list[str] = field(default_factory=list)
    counts: Any = None
    terms: list[str] | None = None
    clean: bool = False

    def __len__(self) -> int:
        return len(self.names)

    def countable(self) -> list[str]:
        """Return the texts with what counts as words: readers want to see addresses, topics not."""
        assert self.texts is not None
        return [without_addresses(text) for text in self.texts] if self.clean else self.texts


def read_corpus(
    texts: Any, *, feature_names: Any = None, text_key: str = "text", encoding: str, clean: bool = True
) -> Corpus:
    """Return the documents that `texts` holds or names.

    Files are read as text, never executed, unpickled or followed to what they name. Texts come out without
    HTML, unless not `clean`, and composed (Unicode's NFC): an é is one character, whichever way it was
    written.
    """
    corpus = _read(texts, feature_names, text_key, encoding)
    if corpus.texts is not None:
        corpus.clean = clean
        if clean:
            _clean(corpus)
        corpus.texts = [normalize("NFC", text) for text in corpus.texts]
    return corpus


def _clean(corpus: Corpus) -> None:
    assert corpus.texts is not None
    before, corpus.texts = corpus.texts, [without_markup(text) for text in corpus.texts]
    changed = sum(one != other for one, other in zip(before, corpus.texts, strict=True))
    if changed:
        documents = "1 document" if changed == 1 else f"{changed:,} documents"
        corpus.notes.append(f"HTML was taken out of {documents}; clean=False would leave it in.")


def _read(texts: Any, feature_names: Any, text_key: str, encoding: str) -> Corpus:
    if _is_matrix(texts):
        return _read_counts(texts, feature_names)
    if feature_names is not None:
        raise InputError("feature_names belong to a matrix of counts, but texts were given: leave them out.")
    if isinstance(texts, str | Path):
        return _read_path(texts, text_key, encoding)
    if isinstance(texts, Mapping):
        return replace(_read_strings(texts.values()), names=[str(name) for name in texts])
    if isinstance(texts, bytes) or not isinstance(texts, Iterable):
        raise InputTypeError(f"Documents cannot be read from {type(texts).__name__}. {EXPECTED}")
    return _read_strings(texts)


def _is_matrix(texts: Any) -> bool:
    if sparse.issparse(texts):
        return True
    if len(getattr(texts, "shape", ())) != 2:
        return False
    return hasattr(texts, "columns") or np.asarray(texts).dtype.kind in "biuf"


def _read_path(given: str | Path, text_key: str, encoding: str) -> Corpus:
    # A text in place of a list of texts is a frequent slip, and may be too long to be asked for as a path.
    path = Path(given)
    try:
        is_folder, is_file = bool(str(given)) and path.is_dir(), path.is_file()
    except OSError:
        is_folder = is_file = False
    if is_folder:
        return _read_folder(path, encoding)
    if is_file and path.name.lower().endswith(JSON_LINES):
        return _read_json_lines(path, text_key, encoding)
    what = "is neither a folder nor a .jsonl file" if is_file else "does not exist"
    shown = str(given)[:60] + ("…" if len(str(given)) > 60 else "")
    raise InputError(f"{shown!r} is taken for a path, which {what}. {EXPECTED}")


def _read_strings(texts: Iterable[Any]) -> Corpus:
    found = [_check_string(text, number) for number, text in enumerate(texts)]
    return Corpus(found, [str(number) for number in range(len(found))])


def _check_string(text: Any, number: int) -> str:
    if isinstance(text, str):
        return str(text)
    if is_missing(text):
        return ""  # a gap in a table; reported with the other empty documents
    raise InputTypeError(
        f"Document {number} is of type {type(text).__name__}, not a string: {str(text)[:40]!r}. {EXPECTED}"
    )


def _read_counts(X: Any, feature_names: Any) -> Corpus:
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    try:
        counts = sparse.csr_array(check_features(X))
    except (InputError, InputTypeError):
        _check_no_texts(X)
        raise
    terms = None if feature_names is None else _read_names(feature_names, counts.shape[1])
    return Corpus(None, [str(number) for number in range(counts.shape[0])], counts=counts, terms=terms)


def _check_no_texts(X: Any) -> None:
    for name in getattr(X, "columns", ()):
        if any(isinstance(value, str) for value in np.asarray(X[name]).flat):
            raise InputTypeError(
                f"A table is taken for counts of terms, but its column {name!r} holds texts: give that "
                f"column alone, for example table[{name!r}]."
            )


def _read_names(feature_names: Any, n_columns: int) -> list[str]:
    if isinstance(feature_names, Mapping | Set | str):
        raise InputTypeError(
            f"feature_names is a {type(feature_names).__name__}, not a list of names in the order of the "
            "columns: give, for example, vectorizer.get_feature_names_out()."
        )
    terms = [str(name) for name in feature_names]
    if len(terms) != n_columns:
        raise InputError(
            f"feature_names has {len(terms)} names, but the matrix has {n_columns} columns: give one "
            "name for each term, in the order of the columns."
        )
    return terms


def _read_folder(folder: Path, encoding: str) -> Corpus:
    """Return the text files below a folder, in the order of their paths.

    Hidden files and folders and symbolic links are skipped, and so, with a note, are files with zero bytes in
    them: they are not text. Bytes that are not `encoding` become U+FFFD, with a note.
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
    _note(corpus, "Skipped, since text has no zero bytes: ", binary)
    _note(corpus, f"Bytes that are not {encoding} were replaced by U+FFFD in ", damaged)
    if not corpus.texts:
        raise InputError(
            f"There are no text files below {str(folder)!r}; hidden files and links are skipped."
        )
    return corpus


def _visible_files(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path


def _read_json_lines(path: Path, text_key: str, encoding: str) -> Corpus:
    """Return the documents of a file with one JSON value per line: a string, or an object with `text_key`."""
    if _is_wide(encoding):
        raise OptionError(
            f"encoding={encoding!r} is not possible for JSON lines, which end in a single byte: convert "
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
        raise InputError(
            f"{path.name} has no line with the key {text_key!r}{found}. Name the right one by text_key."
        )
    _note(corpus, f"Bytes that are not {encoding} were replaced by U+FFFD in ", damaged)
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
    raise InputError(f"{where} holds a {type(value).__name__}, not a string, under the key {text_key!r}.")


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


def _note(corpus: Corpus, what: str, names: list[str]) -> None:
    if names:
        listed = ", ".join(map(showable, names[:LISTED]))
        more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
        corpus.notes.append(f"{what}{listed}{more}.")
