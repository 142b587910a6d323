"""Documents that join a tree of topics, topics that are joined, and topics in groups of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symclust._optional import need
from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.applications.topics._corpus import Corpus, read_corpus
from symclust.applications.topics._documents import Documents
from symclust.applications.topics._refinement import RefinedTopics
from symclust.applications.topics._topic import Topic, describe_nodes, excerpt, telling, without_plurals
from symclust.exceptions import CombinationError, InputError, OptionError, warn
from symclust.operators import RowBlocks

if TYPE_CHECKING:
    from symclust.applications.topics.topic_tree import FittedTopics, TopicTree

MOST_UNKNOWN = 1 / 3  # share of the words of new documents that may be none of the terms


def join_documents(tree: TopicTree, texts: Any) -> dict[str, Any]:
    """The attributes that a tree has once documents have joined; it is not changed."""
    fitted, current = tree._fitted, _refined(tree, "partial_fit")
    if not current.by_words:
        raise CombinationError(
            "partial_fit moves documents by their words, and these topics come from embeddings: use predict "
            "for new documents, or make the tree of all of them."
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
    model = current.joined(fitted.weights.transform(counts[joining])) if joining.size else current
    kept = np.concatenate([fitted.kept, n + joining])
    grown = replace(fitted, model=model, kept=kept, n_documents=n + len(new))
    texts = _beginnings(tree)
    if texts is not None and new.texts is not None:
        texts += map(excerpt, new.texts)
    corpus = Corpus(texts, tree.names + new.names_from(n), shortened=True)
    described = [replace(topic, name=tree[topic.number].name) for topic in _described(grown, corpus)]
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


def merge_topics(tree: TopicTree, groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    """The attributes that a tree has once leaves have been joined; it is not changed."""
    fitted, n_leaves = tree._fitted, len(tree.leaves)
    model = _refined(tree, "merge")
    given = [int(label) for group in groups for label in group]
    if len(set(given)) < len(given) or not all(0 <= label < n_leaves for label in given):
        raise OptionError(
            f"Groups of topics to be merged are lists of labels of leaves, from 0 to {n_leaves - 1}, none of "
            f"them twice; got {', '.join(map(str, groups))}."
        )
    if all(len(group) < 2 for group in groups):
        return {}
    joined = replace(fitted, model=model.merged([group for group in groups if len(group) > 1]))
    described = _described(joined, Corpus(_beginnings(tree), tree.names, shortened=True))
    alike = {frozenset(leaf.documents.tolist()): leaf.name for leaf in tree.leaves}
    named = [
        replace(topic, name=alike.get(frozenset(topic.documents.tolist()), "") if topic.is_leaf else "")
        for topic in described
    ]
    return {"topics": named, "labels_": joined.spread(joined.model.labels_, -1), "_fitted": joined}


def topics_by_group(tree: TopicTree, groups: Any, n_terms: int) -> Any:
    """A DataFrame with a row for each group and topic that meet."""
    pandas = need("pandas", "tables", "by")
    codes, names = pandas.factorize(pandas.Series(list(groups)), sort=True)
    if len(codes) != len(tree.names):
        raise InputError(f"groups has {len(codes)} entries, and there are {len(tree.names)} documents.")
    fitted, X = tree._fitted, _refined(tree, "by").X
    own, labels = codes[fitted.kept], tree.labels_[fitted.kept]
    number = np.where((own < 0) | (labels < 0), -1, own * len(tree.leaves) + labels)
    present, parts = np.unique(number[number >= 0], return_inverse=True)
    place = np.full(len(number), -1)
    place[number >= 0] = parts
    has = Documents(X).frequencies(place, len(present)).toarray()
    whole = Documents(X).frequencies(np.zeros(len(number), dtype=np.intp), 1).toarray()[0]
    sizes, rows = np.bincount(parts), []
    groups_of, labels_of = np.divmod(present, len(tree.leaves))
    totals = np.bincount(groups_of, weights=sizes)
    for part, (group, label, size) in enumerate(zip(groups_of, labels_of, sizes.tolist(), strict=True)):
        tells = telling(has[part], size, whole, len(number))
        order = np.argsort(-tells, kind="stable")[: 3 * n_terms]
        terms = without_plurals(fitted.terms[order[has[part][order] > 0]].tolist(), n_terms)
        row = {"group": names[group], "topic": label, "documents": size, "share": size / totals[group]}
        rows.append({**row, "terms": ", ".join(terms)})
    return pandas.DataFrame(rows, columns=["group", "topic", "documents", "share", "terms"])


def _refined(tree: TopicTree, what: str) -> RefinedTopics:
    model = tree._fitted.model
    if not isinstance(model, RefinedTopics):
        raise CombinationError(
            f"{what} needs topics that are centres of their documents, and with refine=False they are not: "
            "make the tree with refine=True."
        )
    if isinstance(model.X, RowBlocks):
        raise CombinationError(
            "The documents of the tree are a Dask array, whose blocks stay on workers, and "
            f"{what} needs them here. Use predict for new documents, or make another tree."
        )
    return model


def _beginnings(tree: TopicTree) -> list[Any] | None:
    """Beginnings of the documents that are shown, None for the others; no list if there were no texts."""
    if tree._fitted.vectorizer is None:
        return None
    beginnings: list[Any] = [None] * len(tree.names)
    for topic in tree.topics:
        for example in topic.examples:
            beginnings[example.document] = example.excerpt
    return beginnings


def _described(fitted: FittedTopics, corpus: Corpus) -> list[Topic]:
    with single_threaded_blas():  # many short products, for which threads cost more than they bring
        return describe_nodes(fitted, Documents(fitted.model.X), corpus)


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
