"""One node of a tree of topics, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from symclust.applications._corpus import Corpus
from symclust.hierarchy import Node, Tree
from symclust.metrics import topic_coherence

__all__ = ["Example", "Topic", "describe"]

EXCERPT = 200  # characters of a document that are kept with a topic


@dataclass(frozen=True)
class Example:
    """A document that is typical of a topic.

    Attributes
    ----------
    document : int
        Its number among those given.
    name : str
        Its file, line or number.
    similarity : float
        Cosine with the mean document of the topic.
    excerpt : str
        Its beginning; empty where only counts were given.
    """

    document: int
    name: str
    similarity: float
    excerpt: str


@dataclass(frozen=True, eq=False)
class Topic:
    """A node of a tree of topics.

    Attributes
    ----------
    number : int
        Its number in the tree; 0 is the root, which holds all documents.
    label : int or None
        For a leaf, what `TopicTree.labels_` calls it.
    parent : int or None
        Number of the topic it is a part of.
    children : tuple of int
        Numbers of its parts.
    depth : int
        Steps from the root.
    documents : ndarray of int
        The documents in it, by their numbers among those given.
    terms : tuple of (str, float)
        The terms that set it apart from all documents, the most telling first, and their weights: ordered by
        p log(p/q), with p and q the shares of a term in the weights of the topic and of all documents.
    score : float
        What its split is worth (Kuang 2014, (63)); NaN where that was not asked.
    coherence : float
        `symclust.metrics.topic_coherence` of its terms in all documents.
    examples : tuple of Example
        The most typical documents first.
    """

    number: int
    label: int | None
    parent: int | None
    children: tuple[int, ...]
    depth: int
    documents: np.ndarray
    terms: tuple[tuple[str, float], ...]
    score: float
    coherence: float
    examples: tuple[Example, ...]

    @property
    def size(self) -> int:
        """Number of documents."""
        return len(self.documents)

    @property
    def is_leaf(self) -> bool:
        """Whether it is not divided further."""
        return not self.children


def describe(
    tree: Tree,
    X: sparse.csr_array,
    kept: np.ndarray,
    terms: np.ndarray,
    corpus: Corpus,
    n_terms: int,
    n_examples: int,
) -> list[Topic]:
    """Return the nodes of a tree from the root down and from left to right.

    Parameters
    ----------
    tree : Tree
        Of the documents that were clustered.
    X : csr_array
        Their weights, rows of unit length.
    kept : ndarray of int
        Their numbers among all documents.
    terms : ndarray of str
        Names of the columns of X.
    corpus : Corpus
        All documents.
    n_terms, n_examples : int
        How many to keep of each.
    """
    nodes = list(tree.walk())
    common = _sum(X)
    ranked = [_ranked(node, X, common) for node in nodes]
    coherence = topic_coherence(X, [order for order, _ in ranked])
    labels = {leaf.number: label for label, leaf in enumerate(tree.leaves())}
    return [
        Topic(
            number=node.number,
            label=labels.get(node.number),
            parent=node.parent,
            children=node.children,
            depth=node.depth,
            documents=kept[node.members],
            terms=tuple(zip(terms[order[:n_terms]].tolist(), weights[:n_terms].tolist(), strict=True)),
            score=float(node.score),
            coherence=float(value),
            examples=tuple(_examples(X, node.members, kept, corpus, n_examples)),
        )
        for node, (order, weights), value in zip(nodes, ranked, coherence, strict=True)
    ]


def _ranked(node: Node, X: sparse.csr_array, common: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the terms that set a node apart from all documents, and their weights in it.

    With p the weights of its split, or of its mean document, and q those of the mean of all documents, both
    summing to one, terms are ordered by their part p log(p/q) of the divergence of p from q. The weights
    alone would put the words first that are everywhere.
    """
    weights = np.zeros(X.shape[1])
    if "terms" in node.data:
        weights[np.asarray(node.data["terms"], dtype=np.intp)] = node.data["weights"]
    else:
        weights = _sum(X[node.members])
    present = np.flatnonzero(weights)
    p, q = weights[present] / weights.sum(), common[present] / common.sum()
    order = present[np.argsort(-p * np.log(p / q), kind="stable")]
    return order, weights[order]


def _sum(X: sparse.csr_array) -> np.ndarray:
    return X.T @ np.ones(X.shape[0])


def _examples(
    X: sparse.csr_array, members: np.ndarray, kept: np.ndarray, corpus: Corpus, n_examples: int
) -> Iterator[Example]:
    mean = _sum(X[members])
    cosines = (X[members] @ mean) / max(float(np.linalg.norm(mean)), np.finfo(float).tiny)
    seen: set[str] = set()
    for place in np.argsort(-cosines, kind="stable"):
        if len(seen) == n_examples:
            return
        number = int(kept[members[place]])
        text = excerpt(corpus.texts[number]) if corpus.texts else ""
        if (text or str(number)) not in seen:  # copies of one document are no further example
            seen.add(text or str(number))
            yield Example(number, corpus.names[number], float(cosines[place]), text)


def excerpt(text: str, length: int = EXCERPT) -> str:
    """Return the beginning of a text on one line, cut between words.

    Characters that are not to be seen become spaces: some of them would steer the terminal.
    """
    visible = (letter if letter.isprintable() else " " for letter in text[: 4 * length])
    line = " ".join("".join(visible).split())
    return line if len(line) <= length else line[:length].rsplit(" ", 1)[0] + " …"
