"""Documents, read from strings, a folder of text files, JSON lines, or a matrix of counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from scipy import sparse

from symclust.applications.topics._markup import without_addresses, without_markup
from symclust.estimators import read_rows
from symclust.exceptions import InputError, InputTypeError
from symclust.operators import is_dask
from symclust.readers import Source, Texts, folder_texts, json_texts
from symclust.validation import check_features, is_a, is_missing

EXPECTED = (
    "Give a list of strings, a dict of names and strings, a Series, a table of columns of text, the path "
    "of a folder of text files or of a .jsonl or .jsonl.gz file, or a documents × terms matrix of counts."
)
JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


@dataclass
class Corpus:
    """Documents with names, and what was noticed while reading them."""

    texts: list[Any] | None  # None if a matrix of counts was given
    names: list[str]  # of each document: its number, its file, or its line
    notes: list[str] = field(default_factory=list)  # sentences for the user
    counts: Any = None  # documents × terms: a csr_array, or RowBlocks
    terms: list[str] | None = None  # names of the columns of `counts`
    clean: bool = False  # whether markup was taken out, and addresses are no words
    n_cleaned: int = 0  # documents that markup was taken out of
    shortened: bool = False  # whether only beginnings of texts are there, or None in their place

    def __len__(self) -> int:
        return len(self.names)

    def names_from(self, first: int) -> list[str]:
        """The names of documents that come after others; where they are numbers, those go on."""
        numbers = [str(number) for number in range(len(self))]
        return [str(first + i) for i in range(len(self))] if self.names == numbers else self.names

    def countable(self) -> list[str]:
        """The texts with what counts as words: readers want to see addresses, topics not."""
        assert self.texts is not None
        return [without_addresses(text) for text in self.texts] if self.clean else self.texts


def read_corpus(
    texts: Any, *, feature_names: Any = None, text_key: str = "text", encoding: str, clean: bool = True
) -> Corpus:
    """The documents that `texts` holds or names.

    Files are read as text, never executed, unpickled or followed to what they name. Texts come out without
    HTML, unless not `clean`, and composed (Unicode's NFC): an é is one character, whichever way it was
    written.
    """
    corpus = _read(texts, feature_names, text_key, encoding)
    if corpus.texts is not None:
        corpus.clean = clean
        if clean:
            _clean(corpus)
            corpus.notes += note_of_markup(corpus.n_cleaned)
        corpus.texts = [normalize("NFC", text) for text in corpus.texts]
    return corpus


def _clean(corpus: Corpus) -> None:
    assert corpus.texts is not None
    before, corpus.texts = corpus.texts, [without_markup(text) for text in corpus.texts]
    corpus.n_cleaned = sum(one != other for one, other in zip(before, corpus.texts, strict=True))


def note_of_markup(n_cleaned: int) -> list[str]:
    """A sentence about documents that held markup, if there were such."""
    documents = "1 document" if n_cleaned == 1 else f"{n_cleaned:,} documents"
    return [f"HTML was taken out of {documents}; clean=False would leave it in."] if n_cleaned else []


def _read(texts: Any, feature_names: Any, text_key: str, encoding: str) -> Corpus:
    if is_a(texts, "pandas", "DataFrame") and _holds_texts_alone(texts):
        texts = texts.apply(lambda row: "\n".join(text for text in row if isinstance(text, str)), axis=1)
    if _is_matrix(texts):
        return _read_counts(texts, feature_names)
    if feature_names is not None:
        raise InputError("feature_names belong to a matrix of counts, but texts were given: leave them out.")
    if isinstance(texts, str | Path):
        return _read_path(texts, text_key, encoding)
    if isinstance(texts, Mapping):
        return replace(_read_strings(texts.values()), names=[str(name) for name in texts])
    if is_a(texts, "pandas", "Series") and not is_a(texts.index, "pandas", "RangeIndex"):
        return replace(_read_strings(texts), names=[str(name) for name in texts.index])
    if isinstance(texts, bytes) or not isinstance(texts, Iterable):
        raise InputTypeError(f"Documents cannot be read from {type(texts).__name__}. {EXPECTED}")
    return _read_strings(texts)


def _holds_texts_alone(table: Any) -> bool:
    """Whether each column of a table has texts, and gaps at most beside them."""
    columns = [table.iloc[:, number] for number in range(table.shape[1])]
    return bool(columns) and all(
        any(isinstance(value, str) for value in column)
        and all(isinstance(value, str) or is_missing(value) for value in column)
        for column in columns
    )


def _is_matrix(texts: Any) -> bool:
    if sparse.issparse(texts) or is_dask(texts):
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
        return _from_readers(folder_texts(path, encoding))
    if is_file and path.name.lower().endswith(JSON_LINES):
        return _from_readers(json_texts(Source(path), text_key, encoding))
    what = "is neither a folder nor a .jsonl file" if is_file else "does not exist"
    shown = str(given)[:60] + ("…" if len(str(given)) > 60 else "")
    raise InputError(f"{shown!r} is taken for a path, which {what}. {EXPECTED}")


def _from_readers(found: Texts) -> Corpus:
    return Corpus(found.texts, found.names, found.notes)


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
        counts = read_rows(X, "topics") if is_dask(X) else sparse.csr_array(check_features(X))
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
