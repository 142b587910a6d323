"""Topics from the leaves of a tree: documents may change their leaf, leaves merge, and a new tree joins them.

A tree of splits cannot take back what an early split did wrong. So it is grown to more leaves than are
wanted, and `document_clusters` makes topics of these and of leaves of other trees. Merging on to the root
gives the tree that is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from symclust._threads import single_threaded_blas
from symclust._types import Array, RandomState
from symclust.applications.topics._documents import BlockDocuments, Documents, documents_of, normalized_rows
from symclust.estimators import FlatTopics, refuse_to_save_blocks
from symclust.hierarchy import Tree
from symclust.inputs import document_clusters
from symclust.k_means import Merge, joined, merges
from symclust.operators import stacked
from symclust.storage import Savable

MOVES_OF_JOINED = 5  # rounds in which documents change their topic where others have joined


@dataclass(frozen=True, eq=False)
class RefinedTopics(Savable):
    """Topics as the centres of their documents, in a tree.

    The score of a node of `tree_` is the gain of its split: Σ_i cos(x_i, c_own) over its documents, with
    centres c of its two parts in place of one. `labels_` are the leaves of documents, −1 for one that shares
    no term with any topic; `components_` are the centres of the leaves. These and the documents X, a
    csr_array or `RowBlocks`, have rows of unit length. Without `by_words`, topics come from something else
    that is known of the documents, not from X.
    """

    _left_out: ClassVar[dict[str, str]] = {"X": "flatten()"}

    tree_: Tree
    labels_: Array
    components_: Array
    X: Any
    by_words: bool = True

    @classmethod
    def of(cls, X: Any, labels: Array, n_topics: int | None, random_state: RandomState = None) -> Self:
        """At most `n_topics` topics from the leaves of a tree; all of them if it is None.

        X is a csr_array or RowBlocks of weights, no row of it zero. Documents that the tree has set aside
        have the label -1 and move no centre.
        """
        documents, found = documents_of(X), None
        if n_topics is not None and labels.max() >= n_topics and isinstance(documents, Documents):
            rng = check_random_state(random_state)
            found = document_clusters(documents.X, n_topics, rng, [labels])
            found = None if found is None else _without_strangers(documents, found)
        if found is None:
            found = _merged(documents, labels, n_topics)
        return cls.of_clusters(documents, found)

    @classmethod
    def of_clusters(
        cls, documents: Documents | BlockDocuments, labels: Array, vectors: Array | None = None
    ) -> Self:
        """Topics of clusters, none empty, in the tree of merges by words, or by unit rows of vectors."""
        S = documents.sums(labels, int(labels.max()) + 1)
        near = S if vectors is None else Documents(sparse.csr_array(vectors)).sums(labels, S.shape[0])
        tree, centers = _tree(labels, merges(near)), normalize(S).toarray().astype(documents.X.dtype)
        order = [int(labels[leaf.members].max()) for leaf in tree.leaves()]
        return cls(tree, tree.cut(len(order)), centers[order], documents.X, vectors is None)

    def merged(self, groups: Sequence[Sequence[int]]) -> Self:
        """The same topics with the leaves of each group joined; the tree above is made anew, by words."""
        into = np.arange(len(self.components_))
        for group in groups:
            into[list(group)] = min(group)
        labels = np.unique(into, return_inverse=True)[1][self.labels_]
        return replace(
            self.of_clusters(Documents(self.X), np.where(self.labels_ < 0, -1, labels)),
            by_words=self.by_words,
        )

    def _saved_state(self, data: bool) -> dict[str, Any]:
        if data:
            refuse_to_save_blocks(self.X)
        return super()._saved_state(data)

    def joined(self, X: Any) -> Self:
        """The topics once documents have joined; the leaves and the tree above them stay.

        New documents, and those that were in no leaf, go to the nearest centre that they touch. Then
        documents move between leaves as after a fit, for fewer rounds.
        """
        new = normalized_rows(X).astype(self.X.dtype)
        documents = Documents(stacked([self.X, new]))
        labels = np.append(self.labels_, np.full(new.shape[0], -1, dtype=self.labels_.dtype))
        with single_threaded_blas():
            labels = documents.placed(labels, self.components_)
            labels, centers = documents.settled(labels, MOVES_OF_JOINED)
            labels = documents.placed(labels, centers)
        tree = _with_members(self.tree_, labels, documents.X)
        return type(self)(tree, labels, centers, documents.X)

    @property
    def outliers_(self) -> Array:
        """Documents in no leaf."""
        return np.flatnonzero(self.labels_ < 0)

    @property
    def membership_(self) -> Array:
        """A one at the leaf of each document; made when asked for, since most of it is zero."""
        return (self.labels_[:, None] == np.arange(len(self.components_))).astype(self.components_.dtype)

    def flatten(self) -> FlatTopics:
        """All documents explained by all topics at once."""
        return FlatTopics.of(self.X, self.components_)

    def transform(self, X: Any) -> Array:
        """The memberships of other documents, as in `flatten`."""
        return FlatTopics.of(documents_of(X).X, self.components_).membership_


def _merged(documents: Documents | BlockDocuments, labels: Array, n_topics: int | None) -> Array:
    """Topics of documents that are few, or in blocks, or to be as many as leaves."""
    with single_threaded_blas():
        labels, centers = documents.settled(labels)
        if n_topics is not None and len(centers) > n_topics:
            found = merges(documents.sums(labels, len(centers)))[: len(centers) - n_topics]
            labels, centers = documents.settled(joined(labels, found))
        return documents.placed(labels, centers)


def _without_strangers(documents: Documents, labels: Array) -> Array:
    """Labels in which no document is in a topic whose other documents share no term with it."""
    S = documents.sums(labels, int(labels.max()) + 1)
    cosines = (documents.X @ S.T.toarray())[np.arange(len(labels)), labels]  # with itself, that is 1
    known = np.bincount(labels, cosines > 1 + np.sqrt(np.finfo(cosines.dtype).eps)) > 0
    strangers = known[labels] & (cosines <= 1 + np.sqrt(np.finfo(cosines.dtype).eps))
    labels = np.where(strangers, -1, labels)
    return documents.placed(labels, normalize(documents.sums(labels, len(known))).toarray())


def _tree(labels: Array, found: list[Merge]) -> Tree:
    """The tree whose splits take the merges back, the last first; the larger part is on the left."""
    members = [np.flatnonzero(labels == topic) for topic in range(int(labels.max()) + 1)]
    parts: list[list[tuple[int, Array]]] = []
    for merge in found:
        parts.append([(topic, members[topic]) for topic in (merge.one, merge.other)])
        members[merge.one] = np.union1d(members[merge.one], members[merge.other])
    tree = Tree(len(labels))
    nodes = dict.fromkeys(range(len(members)), 0)
    for merge, both in zip(reversed(found), reversed(parts), strict=True):
        node = tree.nodes[nodes[merge.one]]
        node.score = merge.loss
        both.sort(key=lambda part: -len(part[1]))
        for (topic, _), child in zip(both, tree.split(node.number, [own for _, own in both]), strict=True):
            nodes[topic] = child.number
    return tree


def _with_members(tree: Tree, labels: Array, X: sparse.csr_array) -> Tree:
    """A tree of the same shape whose leaves have other documents; scores are those of its splits."""
    grown, sums = copy(tree), {}
    grown.nodes = [replace(node, data=dict(node.data)) for node in tree.nodes]
    for label, leaf in enumerate(grown.leaves()):
        leaf.members = np.flatnonzero(labels == label)
        sums[leaf.number] = X[leaf.members].T @ np.ones(len(leaf.members))
    for node in reversed(grown.nodes):  # children before their parents
        if node.children:
            parts = [sums.pop(child) for child in node.children]
            sums[node.number] = np.sum(parts, axis=0)
            node.score = sum(map(_length, parts)) - _length(sums[node.number])
            node.members = np.sort(np.concatenate([grown.nodes[child].members for child in node.children]))
    grown.nodes[0].members = np.arange(len(labels))
    return grown


def _length(x: Array) -> float:
    return float(np.sqrt(np.sum(x * x)))
