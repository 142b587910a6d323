"""The answer of `topics`: the tree, and the place of new documents in it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from symclust._optional import need
from symclust._text import showable
from symclust._types import Array
from symclust.applications.topics._corpus import Corpus, read_corpus
from symclust.applications.topics._joining import join_documents, merge_topics, topics_by_group
from symclust.applications.topics._terms import counts_of
from symclust.applications.topics._topic import Topic, draw_tree, excerpt
from symclust.describe import Found, Trait
from symclust.documents import DocumentWeights, weighted_rows
from symclust.estimators import Placement, PlacingAnswer, labels_of
from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.operators import RowBlocks
from symclust.selection import Selection
from symclust.validation import check_number

__all__ = ["FittedTopics", "NamedTopics", "TopicTree"]

OPENING = 70  # characters of a typical document


@dataclass
class FittedTopics:
    """Vectoriser, weights and hierarchy after fitting."""

    vectorizer: Any  # a CountVectorizer; None if counts were given
    weights: DocumentWeights
    model: Any  # RefinedTopics, or HierarchicalNMF
    terms: Array  # names of the columns
    has_names: bool  # whether these were given
    kept: Array  # the documents that the model was fitted to
    n_documents: int  # all of them
    reading: dict[str, Any]  # options of `read_corpus`
    n_terms: int = 20  # kept with each topic, as `n_examples` are
    n_examples: int = 3

    def place(self, texts: Any) -> Placement:
        """Labels and weights of new documents."""
        corpus = read_corpus(texts, **self.reading)
        counts = self.counts(corpus)
        if isinstance(counts, RowBlocks):
            membership = self.model.transform(counts.map(weighted_rows, self.weights))
            return Placement(labels_of(membership), membership, corpus.names)
        X = self.weights.transform(counts)
        known = np.flatnonzero(np.diff(X.indptr))
        membership = np.zeros((X.shape[0], len(self.model.components_)), dtype=X.dtype)
        if known.size:
            membership[known] = self.model.transform(X[known])
        return Placement(labels_of(membership), membership, corpus.names)

    def counts(self, corpus: Corpus) -> sparse.csr_array | RowBlocks:
        """Documents × the terms of the tree."""
        if corpus.texts is not None:
            if self.vectorizer is None:
                raise CombinationError(
                    "The topics come from a matrix of counts, so how texts become counts is not known: give "
                    "the counts of the new documents, with the same columns."
                )
            return sparse.csr_array(counts_of(self.vectorizer, corpus.countable()))
        if corpus.counts.shape[1] != len(self.terms):
            raise InputError(
                f"The matrix has {corpus.counts.shape[1]} columns, but the topics know {len(self.terms)} "
                "terms: give one column for each of them, in the order of feature_names."
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

    def membership(self) -> Array:
        """The weights of the leaves, for all documents that were given."""
        return self.spread(self.model.membership_, 0)

    def spread(self, rows: Array, fill: float) -> Array:
        """An array with a row for every document, `fill` for those that took no part."""
        full = np.full((self.n_documents, *np.shape(rows)[1:]), fill, dtype=np.asarray(rows).dtype)
        full[self.kept] = rows
        return full


# Equality is identity here: that of arrays is no yes or no.
@dataclass(frozen=True, eq=False, repr=False)
class NamedTopics(PlacingAnswer):
    """The leaves of a tree as topics without a tree.

    Attributes
    ----------
    labels_ : ndarray of shape (n_documents,)
        Topic of each document of the tree, also of outliers; -1 if no topic explains it.
    membership_ : ndarray of shape (n_documents, n_topics)
        Weight of each topic, zero for those that do not help to explain the document.
    components_ : ndarray of shape (n_topics, n_terms)
        Weights of the terms in each topic.
    terms : list of list of str
        The terms of each topic, the most telling first.
    node_names_ : list of str
        Names of the documents.
    """

    labels_: Array
    membership_: Array
    components_: Array
    terms: list[list[str]]
    node_names_: list[Any] | None = None
    _fitted: FittedTopics | None = None

    @property
    def _nouns(self) -> tuple[str, str]:
        return "document", "topic"

    def _evidence(self) -> Found:
        return Found([_as_traits(terms) for terms in self.terms])

    def place(self, texts: Any) -> Placement:
        """New documents in these topics: `TopicTree.place`."""
        if self._fitted is None:
            raise CombinationError("These topics were saved by an earlier version, without their terms.")
        return self._fitted.place(texts)


@dataclass(eq=False, repr=False)
class TopicTree(PlacingAnswer):
    """Topics within topics; made by `symclust.topics`.

    ``print(tree)`` draws it. Iterating gives its topics from the root down and from left to right, and
    ``tree[number]`` the one with that number.

    Attributes
    ----------
    topics : list of Topic
        All nodes; the first is the root.
    leaves : list of Topic
        Those that are not divided further, from left to right.
    labels_ : ndarray of shape (n_documents,)
        Leaf of each document; -1 for outliers and documents without terms.
    membership_ : ndarray of shape (n_documents, n_leaves)
        Weight of each leaf for each document.
    outliers : ndarray of int
        Documents that fit no topic.
    empty : ndarray of int
        Documents without any of the terms; they took no part.
    one_word : ndarray of int
        Documents with a single one of the terms; they took part, but say little.
    names : list of str
        Of the documents: their files, lines or numbers; also called `node_names_`.
    feature_names : list of str
        All terms, in the order of the columns of ``flatten().components_``.
    notes : list of str
        What was noticed while reading, in sentences.
    selection_ : Selection or None
        Why there is this number of topics, if ``n_topics="auto"`` left it open.
    """

    _renamed: ClassVar[dict[str, str]] = {"selection": "selection_", "assign": "place"}

    topics: list[Topic]
    labels_: Array
    outliers: Array
    empty: Array
    one_word: Array
    names: list[str]
    feature_names: list[str]
    notes: list[str]
    _fitted: FittedTopics
    selection_: Selection | None = None

    @property
    def leaves(self) -> list[Topic]:
        """Topics that are not divided further, from left to right."""
        return [topic for topic in self.topics if topic.is_leaf]

    @property
    def membership_(self) -> Array:
        """Weight of each leaf for each document; made when asked for, since most of it is zero."""
        return self._fitted.membership()

    @property
    def n_clusters_(self) -> int:
        """The number of leaves."""
        return len(self.leaves)

    @property
    def node_names_(self) -> list[str]:  # type: ignore[override]
        """Names of the documents."""
        return self.names

    @property
    def _nouns(self) -> tuple[str, str]:
        return "document", "topic"

    def _evidence(self) -> Found:
        leaves = self.leaves
        typical = [[excerpt(one.excerpt, OPENING) or one.name for one in leaf.examples] for leaf in leaves]
        words = [[*filter(None, [leaf.name]), *(term for term, _ in leaf.terms)] for leaf in leaves]
        return Found([_as_traits(own) for own in words], typical)

    @property
    def _gives_degrees(self) -> bool:
        return bool(getattr(self._fitted.model, "soft", False))

    def __len__(self) -> int:
        return len(self.topics)

    def __iter__(self) -> Iterator[Topic]:
        return iter(self.topics)

    def __getitem__(self, number: int) -> Topic:
        for topic in self.topics:
            if topic.number == number:
                return topic
        raise OptionError(f"There is no topic {number!r}: they are numbered from 0 to {len(self) - 1}.")

    def __repr__(self) -> str:
        return f"<TopicTree: {self._heading()}>"

    def __str__(self) -> str:
        return self.draw()

    def _heading(self) -> str:
        counts = {"document": len(self.names), "topic": len(self.leaves), "outlier": len(self.outliers)}
        found = [(count, f"{what}{'s' * (count != 1)}") for what, count in counts.items()]
        found.append((len(self.empty), "without terms"))
        return ", ".join(f"{count:,} {what}" for count, what in found if count)

    def draw(
        self, width: int = 100, *, n_terms: int = 8, max_depth: int | None = None, n_examples: int = 0
    ) -> str:
        """The tree as text, one line per topic.

        Parameters
        ----------
        width : int, default=100
            No line gets longer.
        n_terms : int, default=8
            Terms of each topic, as far as they fit.
        max_depth : int, default=None
            Leave out what is deeper.
        n_examples : int, default=0
            Typical documents below each leaf.
        """
        check_number("width", width, least=20, whole=True)
        check_number("n_terms", n_terms, least=1, whole=True)
        check_number("n_examples", n_examples, least=0, whole=True)
        if max_depth is not None:
            check_number("max_depth", max_depth, least=1, whole=True)
        return draw_tree(self.topics, self._heading(), width, n_terms, max_depth, n_examples)

    def to_dict(self, *, documents: bool = True) -> dict[str, Any]:
        """Everything as nested dicts and lists of plain numbers and strings.

        Parameters
        ----------
        documents : bool, default=True
            Whether leaves list the names of all their documents.
        """
        return {
            "n_documents": len(self.names),
            "n_topics": len(self.leaves),
            "outliers": [self.names[number] for number in self.outliers],
            "empty": [self.names[number] for number in self.empty],
            "one_word": [self.names[number] for number in self.one_word],
            "notes": list(self.notes),
            "tree": _nested(self.topics, self.names, documents),
        }

    def to_json(self, *, documents: bool = True, indent: int | None = None) -> str:
        """`to_dict` as JSON, with the letters of all alphabets as they are."""
        data = self.to_dict(documents=documents)
        text = json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False)
        # Halves of surrogate pairs, in the names of some files, can only be written as JSON's own escapes.
        return text.encode("utf-8", errors="backslashreplace").decode("utf-8")

    def topics_dataframe(self) -> Any:
        """A pandas DataFrame with one row per topic, from the root down and from left to right."""
        return _table(self.topics)

    def place(self, texts: Any) -> Placement:
        """New documents in the topics of all leaves, by nonnegative least squares.

        Parameters
        ----------
        texts
            As in `topics`; a matrix of counts, if the tree was made from one.

        Returns
        -------
        Placement
            With `labels_`, `membership_` and `to_dataframe()`. `predict` and `transform` return the first two
            alone.
        """
        return self._fitted.place(texts)

    def partial_fit(self, texts: Any) -> Self:
        """Take in further documents, without growing the tree again.

        They are weighted as those of the fit and go to the leaves whose centres are nearest; then all
        documents may change their leaf, for a few rounds, and terms, examples and scores are found anew. The
        leaves, their numbers and the tree above them stay, and so do the terms that are counted. All
        attributes then speak of all documents, the new ones last. If it fails, the tree is as it was.

        Parameters
        ----------
        texts
            As in `topics`; a matrix of counts, if the tree was made from one.

        Returns
        -------
        TopicTree
            The tree itself.

        Warns
        -----
        UserWarning
            If more than a third of the words of the new documents are none of the terms: what is new about
            them may be what they are about. Words are counted as `topics` does, without stop words.

        Notes
        -----
        Topics of ``refine=False`` cannot take in documents. Examples are chosen among the new documents and
        those that were examples before, whose beginnings are kept. docs/large_data.md compares with `topics`
        of all documents.

        Examples
        --------
        >>> from symclust import topics
        >>> texts = ["ice hockey team", "hockey puck on ice", "orbit of the moon", "moon rocket in orbit"]
        >>> tree = topics(texts, 2, random_state=0)
        >>> tree.partial_fit(["the moon and its orbit", "ice for hockey"]).labels_.shape
        (6,)
        >>> tree.labels_[4] == tree.labels_[2], tree.labels_[5] == tree.labels_[0]
        (np.True_, np.True_)
        """
        vars(self).update(join_documents(self, texts))
        return self

    def rename(self, names: Mapping[int, str] | Callable[[Topic], str]) -> Self:
        """Give leaves names, which are shown before their terms.

        Parameters
        ----------
        names : dict of int and str, or callable
            Names by the labels of leaves, or a function that is called with each leaf, a `Topic`, and returns
            its name: the place for a language model.

        Returns
        -------
        TopicTree
            The tree itself.

        Examples
        --------
        >>> from symclust import topics
        >>> texts = ["ice hockey team", "hockey puck on ice", "orbit of the moon", "moon rocket in orbit"]
        >>> tree = topics(texts, 2, random_state=0)
        >>> [leaf.name for leaf in tree.rename(lambda leaf: leaf.terms[0][0].title()).leaves]
        ['Moon', 'Hockey']
        """
        known = dict(enumerate(self.leaves))
        given = {label: names(leaf) for label, leaf in known.items()} if callable(names) else dict(names)
        for label, name in given.items():
            if label not in known or not isinstance(name, str):
                raise OptionError(
                    f"names has {name!r} for topic {label!r}: give strings for labels of leaves, from 0 to "
                    f"{len(known) - 1}."
                )
        named = {known[label].number: name for label, name in given.items()}
        self.topics = [replace(topic, name=named.get(topic.number, topic.name)) for topic in self.topics]
        return self

    def merge(self, *groups: Sequence[int]) -> Self:
        """Join leaves that are about one subject.

        The labels of all leaves, and the tree above them, are made anew. Names of leaves that are joined are
        forgotten.

        Parameters
        ----------
        *groups : sequence of int
            Labels of leaves to be joined, such as ``tree.merge([0, 3], [1, 2])``.

        Returns
        -------
        TopicTree
            The tree itself.

        Examples
        --------
        >>> from symclust import topics
        >>> texts = ["ice hockey team", "hockey puck on ice", "orbit of the moon", "moon rocket in orbit"]
        >>> topics(texts, 2, random_state=0).merge([0, 1]).labels_
        array([0, 0, 0, 0])
        """
        vars(self).update(merge_topics(self, groups))
        return self

    def by(self, groups: Any, n_terms: int = 5) -> Any:
        """Topics in groups of documents, such as classes, or years.

        Parameters
        ----------
        groups : array-like of shape (n_documents,)
            The group of each document; of dates give ``dates.dt.year`` or the like.
        n_terms : int, default=5
            Terms of each topic in each group: those that set its documents there apart from all documents.

        Returns
        -------
        DataFrame
            A row for each group and topic that meet: how many documents, their share of the group's, and
            the terms.

        Examples
        --------
        >>> from symclust import topics
        >>> texts = ["ice hockey team", "hockey puck on ice", "orbit of the moon", "moon rocket in orbit"]
        >>> tree = topics(texts, 2, random_state=0)
        >>> tree.by([1969, 1970, 1969, 1969])["documents"].tolist()
        [2, 1, 1]
        """
        check_number("n_terms", n_terms, least=1, whole=True)
        return topics_by_group(self, groups, n_terms)

    def flatten(self) -> NamedTopics:
        """The leaves as topics without a tree: all compete for each document (Kuang 2014, (95))."""
        flat, fitted = self._fitted.model.flatten(), self._fitted
        return NamedTopics(
            labels_=fitted.spread(flat.labels_, -1),
            membership_=fitted.spread(flat.membership_, 0),
            components_=flat.components_,
            terms=[[term for term, _ in leaf.terms] for leaf in self.leaves],
            node_names_=self.names,
            _fitted=fitted,
        )


def _as_traits(terms: Sequence[str]) -> list[Trait]:
    return [Trait(term, term, term) for term in terms]


def _nested(topics: Sequence[Topic], names: Sequence[str], with_documents: bool) -> dict[str, Any]:
    """The topics as dicts of plain numbers and strings, children within their parent."""
    found: dict[int, dict[str, Any]] = {}
    for topic in reversed(topics):  # children before their parents
        entry = _entry(topic)
        if topic.children:
            entry["children"] = [found[number] for number in topic.children]
        elif with_documents:
            entry["documents"] = [names[number] for number in topic.documents]
        found[topic.number] = entry
    return found[topics[0].number]


def _entry(topic: Topic) -> dict[str, Any]:
    return {
        "number": topic.number,
        "label": topic.label,
        "name": topic.name,
        "size": topic.size,
        "score": topic.score if math.isfinite(topic.score) else None,  # JSON knows finite numbers only
        "coherence": topic.coherence,
        "terms": [{"term": term, "weight": weight} for term, weight in topic.terms],
        "examples": [
            {"name": e.name, "similarity": e.similarity, "excerpt": e.excerpt} for e in topic.examples
        ],
    }


def _table(topics: Sequence[Topic]) -> Any:
    """A pandas DataFrame with one row per topic."""
    pandas = need("pandas", "tables", "topics_dataframe")
    rows = [
        {
            "topic": topic.number,
            "parent": topic.parent,
            "depth": topic.depth,
            "label": topic.label,
            "name": topic.name,
            "size": topic.size,
            "score": topic.score,
            "coherence": topic.coherence,
            "terms": showable(", ".join(term for term, _ in topic.terms)),
            "example": showable(topic.examples[0].name) if topic.examples else None,
        }
        for topic in topics
    ]
    frame = pandas.DataFrame(rows).astype({"parent": "Int64", "label": "Int64"})
    return frame.set_index("topic")
