"""Documents that join a tree of topics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.applications.topics._corpus import Corpus, read_corpus
from symclust.applications.topics._documents import Documents
from symclust.applications.topics._refinement import RefinedTopics
from symclust.applications.topics._topic import describe_nodes, excerpt
from symclust.exceptions import CombinationError, warn
from symclust.operators import RowBlocks

if TYPE_CHECKING:
    from symclust.applications.topics.topic_tree import FittedTopics, TopicTree

MOST_UNKNOWN = 1 / 3  # share of the words of new documents that may be none of the terms


def join_documents(tree: TopicTree, texts: Any) -> dict[str, Any]:
    """The attributes that a tree has once documents have joined; it is not changed."""
    fitted = tree._fitted
    if not isinstance(fitted.model, RefinedTopics):
        raise CombinationError(
            "partial_fit moves documents between topics that are centres of their documents, and with "
            "refine=False they are not: make the tree with refine=True, or of all documents."
        )
    if isinstance(fitted.model.X, RowBlocks):
        raise CombinationError(
            "The documents of the tree are a Dask array, whose blocks stay on workers: partial_fit does "
            "not add to them. Use predict for new documents, or make the tree of all of them."
        )
    new = read_corpus(texts, **fitted.reading)
    counts = fitted.counts(new)
    if isinstance(counts, RowBlocks):
        raise CombinationError(
            "partial_fit takes documents into memory, where those of the tree are; the new ones are a Dask "
            "array. Give them with .compute(), in parts if they are many."
        )
    counts = counts.copy()  # which may be the user's own
    counts.eliminate_zeros()
    n, words = fitted.n_documents, np.diff(counts.indptr)
    joining = np.flatnonzero(words)
    model = fitted.model.joined(fitted.weights.transform(counts[joining])) if joining.size else fitted.model
    kept = np.concatenate([fitted.kept, n + joining])
    grown = replace(fitted, model=model, kept=kept, n_documents=n + len(new))
    corpus = _of_all(tree, new)
    shown = fitted.n_terms, fitted.n_examples
    with single_threaded_blas():  # many short products, for which threads cost more than they bring
        described = describe_nodes(model.tree_, Documents(model.X), kept, fitted.terms, corpus, *shown)
    return {
        "topics": described,
        "labels_": grown.spread(model.labels_, -1),
        "outliers": kept[model.outliers_],
        "empty": np.concatenate([tree.empty, n + np.flatnonzero(words == 0)]),
        "one_word": np.concatenate([tree.one_word, n + np.flatnonzero(words == 1)]),
        "names": corpus.names,
        "notes": tree.notes + new.notes + _note(fitted, new, n),
        "_fitted": grown,
    }


def _of_all(tree: TopicTree, new: Corpus) -> Corpus:
    """All documents; of earlier ones only those texts that are shown."""
    n = len(tree.names)
    names = tree.names + new.names_from(n)
    if new.texts is None:
        return Corpus(None, names)
    beginnings: list[Any] = [None] * n
    for topic in tree.topics:
        for example in topic.examples:
            beginnings[example.document] = example.excerpt
    return Corpus([*beginnings, *map(excerpt, new.texts)], names, shortened=True)


def _note(fitted: FittedTopics, new: Corpus, n: int) -> list[str]:
    """A sentence about what has joined; warn if many of its words are none of the terms."""
    documents = "1 document" if len(new) == 1 else f"{len(new):,} documents"
    joined = f"{documents} joined the first {n:,}"
    share = _share_of_unknown(fitted, new)
    if share is None:
        return [f"{joined}."]
    if share > MOST_UNKNOWN:
        warn(
            f"{share:.0%} of the words of the {len(new):,} new documents are none of the "
            f"{len(fitted.terms):,} terms of the topics, and say nothing here. Make a new tree of all "
            "documents, which counts new words."
        )
    return [f"{joined}; {share:.0%} of their words are none of the terms."]


def _share_of_unknown(fitted: FittedTopics, new: Corpus) -> float | None:
    """The share of words that are no terms; None if there are no words."""
    if new.texts is None:
        return None
    words, known = fitted.vectorizer.build_analyzer(), fitted.vectorizer.vocabulary_
    counted: Array = np.zeros(2)
    for text in new.countable():
        found = words(text)
        counted += len(found), sum(word in known for word in found)
    return float(1 - counted[1] / counted[0]) if counted[0] else None
