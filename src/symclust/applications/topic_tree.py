"""What `topics` returns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symclust.applications._drawing import draw_tree
from symclust.applications._tables import nested, table
from symclust.applications._topic import Topic
from symclust.exceptions import OptionError
from symclust.validation import check_number

__all__ = ["NamedTopics", "TopicAssignment", "TopicTree"]


# Equality is identity here: that of arrays is no yes or no.
@dataclass(frozen=True, eq=False)
class TopicAssignment:
    """Where new documents belong.

    Attributes
    ----------
    labels_ : ndarray of shape (n_documents,)
        Leaf of the tree; -1 for a document without any term that the tree knows.
    membership_ : ndarray of shape (n_documents, n_topics)
        Weight of each leaf, zero for those that do not help to explain the document.
    """

    labels_: np.ndarray
    membership_: np.ndarray


@dataclass(frozen=True, eq=False)
class NamedTopics(TopicAssignment):
    """The leaves of a tree as topics without a tree.

    Attributes
    ----------
    labels_, membership_
        As in `TopicAssignment`, for the documents of the tree; outliers get the topic that explains them
        best, if any does.
    components_ : ndarray of shape (n_topics, n_terms)
        Weights of the terms in each topic.
    terms : list of list of str
        The most important terms of each topic.
    """

    components_: np.ndarray
    terms: list[list[str]]


@dataclass(frozen=True, eq=False)
class TopicTree:
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
        Of the documents: their files, lines or numbers.
    feature_names : list of str
        All terms, in the order of the columns of ``flatten().components_``.
    notes : list of str
        What was noticed while reading, in sentences.
    """

    topics: list[Topic]
    labels_: np.ndarray
    outliers: np.ndarray
    empty: np.ndarray
    one_word: np.ndarray
    names: list[str]
    feature_names: list[str]
    notes: list[str]
    _membership: Callable[[], np.ndarray] = field(repr=False)
    _assign: Callable[[Any], TopicAssignment] = field(repr=False)
    _flatten: Callable[[], NamedTopics] = field(repr=False)

    @property
    def leaves(self) -> list[Topic]:
        """Topics that are not divided further, from left to right."""
        return [topic for topic in self.topics if topic.is_leaf]

    @property
    def membership_(self) -> np.ndarray:
        """Weight of each leaf for each document; made when asked for, since most of it is zero."""
        return self._membership()

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
        """Return the tree as text, one line a topic.

        Parameters
        ----------
        width : int, default=100
            No line gets longer.
        n_terms : int, default=8
            Terms a topic, as far as they fit.
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
        """Return everything as nested dicts and lists of plain numbers and strings.

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
            "tree": nested(self.topics, self.names, documents),
        }

    def to_json(self, *, documents: bool = True, indent: int | None = None) -> str:
        """Return `to_dict` as JSON, letters of all alphabets as they are."""
        return json.dumps(
            self.to_dict(documents=documents), indent=indent, ensure_ascii=False, allow_nan=False
        )

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with one row a topic, from the root down and from left to right."""
        return table(self.topics)

    def assign(self, texts: Any) -> TopicAssignment:
        """Say where new documents belong, by nonnegative least squares on the topics of all leaves.

        Parameters
        ----------
        texts
            As in `topics`; a matrix of counts, if the tree was made from one.
        """
        return self._assign(texts)

    def flatten(self) -> NamedTopics:
        """Return the leaves as topics without a tree: all compete for each document (Kuang 2014, (95))."""
        return self._flatten()
