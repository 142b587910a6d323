"""The steps from documents to topics with what each has learned, so that new documents can follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from symclust.applications._corpus import Corpus
from symclust.applications._sources import read_corpus
from symclust.applications.topic_tree import NamedTopics, TopicAssignment
from symclust.documents import DocumentWeights
from symclust.exceptions import CombinationError, InputError

__all__ = ["FittedTopics"]


@dataclass
class FittedTopics:
    """Vectoriser, weights and hierarchy after fitting.

    Attributes
    ----------
    vectorizer : CountVectorizer or None
        None where counts were given.
    weights : DocumentWeights
    model : HierarchicalNMF
    terms : ndarray of str
        Names of the columns.
    has_names : bool
        Whether these were given.
    kept : ndarray of int
        Documents that the model was fitted to.
    n_documents : int
        All documents.
    n_terms : int
        Terms to name of each topic.
    reading : dict
        Options of `read_corpus`.
    """

    vectorizer: Any
    weights: DocumentWeights
    model: Any
    terms: np.ndarray
    has_names: bool
    kept: np.ndarray
    n_documents: int
    n_terms: int
    reading: dict[str, Any]

    def assign(self, texts: Any) -> TopicAssignment:
        """Return labels and weights of new documents."""
        X = self.weights.transform(self._counts(read_corpus(texts, **self.reading)))
        known = np.flatnonzero(np.diff(X.indptr))
        labels = np.full(X.shape[0], -1, dtype=np.intp)
        membership = np.zeros((X.shape[0], len(self.model.components_)), dtype=X.dtype)
        if known.size:
            membership[known] = self.model.transform(X[known])
            labels[known] = self.model.predict(X[known])
        return TopicAssignment(labels, membership)

    def _counts(self, corpus: Corpus) -> sparse.csr_array:
        if corpus.texts is not None:
            if self.vectorizer is None:
                raise CombinationError(
                    "The topics come from a matrix of counts, so how texts become counts is not known: give "
                    "the counts of the new documents, with the same columns."
                )
            return sparse.csr_array(self.vectorizer.transform(corpus.texts))
        if corpus.counts.shape[1] != len(self.terms):
            raise InputError(
                f"The matrix has {corpus.counts.shape[1]} columns, but the topics know {len(self.terms)}."
            )
        self._check_names(corpus.terms)
        return corpus.counts

    def _check_names(self, names: list[str] | None) -> None:
        if names is None or not self.has_names:
            return
        for column, (given, known) in enumerate(zip(names, self.terms, strict=True)):
            if given != known:
                raise InputError(
                    f"Column {column} of the table is {given!r}, where the topics have {known!r}: give the "
                    "columns in the order of feature_names, for example table[tree.feature_names]."
                )

    def membership(self) -> np.ndarray:
        """Return the weights of the leaves, for all documents that were given."""
        return self.spread(self.model.membership_, 0)

    def flatten(self) -> NamedTopics:
        """Return the leaves as flat topics, for all documents that were given."""
        flat = self.model.flatten()
        return NamedTopics(
            labels_=self.spread(flat.labels_, -1),
            membership_=self.spread(flat.membership_, 0),
            components_=flat.components_,
            terms=[self._names(row) for row in np.asarray(flat.components_)],
        )

    def _names(self, weights: np.ndarray) -> list[str]:
        order = np.argsort(-weights, kind="stable")[: self.n_terms]
        return self.terms[order[weights[order] > 0]].tolist()

    def spread(self, rows: np.ndarray, fill: float) -> np.ndarray:
        """Return an array with a row for every document, `fill` for those that took no part."""
        full = np.full((self.n_documents, *np.shape(rows)[1:]), fill, dtype=np.asarray(rows).dtype)
        full[self.kept] = rows
        return full
