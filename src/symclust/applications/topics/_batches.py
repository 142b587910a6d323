"""A corpus that comes in batches of documents: each is counted and let go.

What stays of a document are its counts, its name and the beginning of its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from symclust._types import Array
from symclust.applications.topics._corpus import Corpus, note_of_markup, read_corpus
from symclust.applications.topics._terms import count_terms, make_vectorizer, no_terms_left
from symclust.applications.topics._topic import excerpt
from symclust.exceptions import InputError, InputTypeError, OptionError

# Terms that are counted at a time. Where there are more, those in the fewest documents are dropped until half
# as many are left: without that, a vocabulary grows as long as texts come.
MOST_TERMS = 2_000_000


def as_batches(texts: Any) -> tuple[Any, bool]:
    """Items of an iterator, and whether they are batches of documents.

    A list of lists is no such thing: it may be documents that were cut into words.
    """
    is_iterator = isinstance(texts, Iterable) and not isinstance(texts, Sequence | Mapping | bytes)
    if not is_iterator or hasattr(texts, "shape"):
        return texts, False
    items = iter(texts)
    first = list(islice(items, 1))
    is_batch = any(isinstance(item, list | tuple | Mapping) or hasattr(item, "shape") for item in first)
    return _again(first, items), is_batch


def _again(first: list[Any], rest: Iterator[Any]) -> Iterator[Any]:
    """Yield what was taken out and what is left; nothing that was yielded is held."""
    while first:
        yield first.pop()
    yield from rest


def count_batches(
    batches: Iterable[Any], language: str | None, options: dict[str, Any], **reading: Any
) -> tuple[Corpus, Any, CountVectorizer]:
    """Documents by name and beginning, documents × terms, and the vectoriser for further ones.

    Counts and terms are those of `count_terms` for all texts at once, unless terms had to be dropped on the
    way; a note says so.
    """
    corpus, counter = Corpus([], [], shortened=True), _Counter(language, options)
    for batch in batches:
        part = _read_batch(batch, len(corpus), **reading)
        assert part.texts is not None
        assert corpus.texts is not None
        counter.add(part.countable())
        corpus.texts += [excerpt(text) for text in part.texts]
        corpus.names += part.names
        corpus.n_cleaned += part.n_cleaned
        del batch, part  # before the next one is made
    counts, vectorizer = counter.finish()
    corpus.notes += note_of_markup(corpus.n_cleaned) + counter.notes
    return corpus, counts, vectorizer


def _read_batch(batch: Any, first: int, **reading: Any) -> Corpus:
    if isinstance(batch, str) or not isinstance(batch, Iterable):
        raise InputTypeError(
            f"The documents after the first {first:,} come as a {type(batch).__name__}, where batches came "
            "before: give lists of texts throughout."
        )
    part = read_corpus(batch, **reading)
    if part.texts is None:
        raise InputTypeError(
            f"A batch is a {type(batch).__name__} of counts, and only texts are taken in batches: stack the "
            "counts with scipy.sparse.vstack."
        )
    return replace(part, names=part.names_from(first))


class _Counter:
    """Counts of terms, one batch after the other; columns are in the order in which terms first came."""

    def __init__(self, language: str | None, options: dict[str, Any]) -> None:
        self.language, self.options = language, options
        self.notes: list[str] = []
        self._parts: list[sparse.csr_array] = []
        self._terms: dict[str, int] = {}
        self._n_documents = self._n_dropped = 0
        # Which terms are too rare or too frequent is known in the end.
        self._all = {**options, "min_df": 1, "max_df": 1.0, "max_features": None}
        _check_options(make_vectorizer(1, language, options))

    def add(self, texts: list[str]) -> None:
        """Count the terms of further texts."""
        self._n_documents += len(texts)
        try:
            counts, vectorizer = count_terms(texts, self.language, self._all)
        except InputError:  # no terms in this batch
            nothing = sparse.csr_array((len(texts), 0), dtype=self.options.get("dtype", np.int64))
            self._parts.append(nothing)
            return
        known = self._terms
        found = vectorizer.get_feature_names_out().tolist()
        columns = np.array([known.setdefault(term, len(known)) for term in found], dtype=np.int64)
        self._parts.append(_with_columns(sparse.csr_array(counts), columns, len(known)))
        if len(known) > MOST_TERMS and self.options.get("vocabulary") is None:
            self._drop_rare()

    def _drop_rare(self) -> None:
        """Drop terms that are in the fewest documents, until there are half as many as there may be."""
        kept = np.zeros(len(self._terms), dtype=bool)
        kept[np.argsort(-self._document_frequencies(), kind="stable")[: MOST_TERMS // 2]] = True
        self._n_dropped += int(np.count_nonzero(~kept))
        self._keep(kept)

    def _keep(self, kept: Array) -> None:
        self._parts = [_some_columns(part, kept[: part.shape[1]]) for part in self._parts]
        self._terms = {
            term: number
            for number, term in enumerate(term for term, place in self._terms.items() if kept[place])
        }

    def _document_frequencies(self) -> Array:
        counts = [np.bincount(part.indices, minlength=len(self._terms)) for part in self._parts]
        return np.sum([np.zeros(len(self._terms), dtype=np.int64), *counts], axis=0)

    def finish(self) -> tuple[sparse.csr_array, CountVectorizer]:
        """Documents × terms and the vectoriser, as `count_terms` does for all texts."""
        vectorizer = make_vectorizer(self._n_documents, self.language, self.options)
        fixed = self.options.get("vocabulary") is not None
        if not fixed:
            self._keep(self._wanted(vectorizer))
        if not self._terms:
            raise no_terms_left(self._n_documents, vectorizer, "all were too rare or too frequent")
        if self._n_dropped:
            self.notes.append(
                f"{self._n_dropped:,} rare terms were dropped while counting, to keep at most {MOST_TERMS:,}."
            )
        order = list(self._terms) if fixed else sorted(self._terms)
        vectorizer.vocabulary_ = {term: number for number, term in enumerate(order)}
        vectorizer.fixed_vocabulary_ = fixed
        columns = np.array([vectorizer.vocabulary_[term] for term in self._terms], dtype=np.int64)
        parts = [_with_columns(part, columns, len(order)) for part in self._parts]
        counts = sparse.csr_array(sparse.vstack(parts, format="csr"))
        counts.sort_indices()  # as those of all texts are: sums then have the same order
        return counts, vectorizer

    def _wanted(self, vectorizer: CountVectorizer) -> Array:
        """A mask of the terms that `min_df`, `max_df` and `max_features` leave."""
        frequencies, n = self._document_frequencies(), self._n_documents
        least, most = (
            limit if isinstance(limit, Integral) else limit * n
            for limit in (vectorizer.min_df, vectorizer.max_df)
        )
        wanted = (frequencies >= least) & (frequencies <= most)
        if vectorizer.max_features is not None:
            # Of terms that are equally frequent scikit-learn takes those that its sort happens to put first:
            # the same numbers in the same order and of the same type are sorted in the same way.
            order = np.array([self._terms[term] for term in sorted(self._terms)], dtype=np.int64)
            order = order[wanted[order]]
            ranked = order[np.argsort(-self._totals()[order])]
            wanted[ranked[vectorizer.max_features :]] = False
        return wanted

    def _totals(self) -> Array:
        """The number of times that each term comes in all documents."""
        totals = np.zeros(len(self._terms), dtype=self.options.get("dtype", np.int64))
        for part in self._parts:
            totals[: part.shape[1]] += part.sum(axis=0)
        return totals


def _check_options(vectorizer: CountVectorizer) -> None:
    try:
        vectorizer._validate_params()
    except ValueError as error:
        raise OptionError(f"scikit-learn's CountVectorizer: {error}") from error


def _with_columns(part: sparse.csr_array, columns: Array, n_columns: int) -> sparse.csr_array:
    """A matrix whose column j is column `columns[j]` of another with more or other columns."""
    shape = (part.shape[0], n_columns)
    return sparse.csr_array((part.data, columns[part.indices].astype(np.int32), part.indptr), shape=shape)


def _some_columns(part: sparse.csr_array, kept: Array) -> sparse.csr_array:
    return part if kept.all() else sparse.csr_array(part[:, np.flatnonzero(kept)])
