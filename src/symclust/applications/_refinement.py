"""Topics from the leaves of a tree: documents may change their leaf, leaves merge, and a new tree joins them.

A tree of splits cannot take back what an early split did wrong. So it is grown to more leaves than are
wanted; spherical k-means moves documents between them; the pair whose union costs least is merged until
as many are left as were asked for; documents move again. Merging on to the root gives the tree that is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.baselines import SphericalRuns
from symclust.estimators import FlatTopics
from symclust.hierarchy import Tree
from symclust.storage import Savable

__all__ = ["RefinedTopics"]

MOVES = 50  # rounds in which documents change their topic, at most: few do in the last ones


@dataclass(frozen=True, eq=False)
class RefinedTopics(Savable):
    """Topics as the centres of their documents, in a tree.

    Attributes
    ----------
    tree_ : Tree
        The score of a node is what its split gains: Σ_i cos(x_i, c_own) over its documents, with centres c of
        its two parts in place of one.
    labels_ : ndarray of shape (n_documents,)
        Leaf of each document; -1 where it shares no term with any topic.
    components_ : ndarray of shape (n_topics, n_terms)
        Centres of the leaves, of unit length.
    X : csr_array
        The documents, rows of unit length.
    """

    _left_out: ClassVar[dict[str, str]] = {"X": "flatten()"}

    tree_: Tree
    labels_: Array
    components_: Array
    X: Any

    @classmethod
    def of(cls, X: Any, labels: Array, n_topics: int | None) -> Self:
        """Return at most `n_topics` topics from the leaves of a tree.

        Parameters
        ----------
        X : csr_array of shape (n_documents, n_terms)
            Weights of at least 0; no row is zero.
        labels : ndarray of int
            Leaf of each document, -1 for those that the tree has set aside: they move no centre.
        n_topics : int or None
            None keeps all leaves apart.
        """
        X = sparse.csr_array(normalize(X))
        inside = np.flatnonzero(labels >= 0)
        with single_threaded_blas():
            own, centers = _settled(X[inside], labels[inside])
            if n_topics is not None and len(centers) > n_topics:
                merges = _merges(X[inside], own)[: len(centers) - n_topics]
                own, centers = _settled(X[inside], _joined(own, merges))
            labels = _placed(X, inside, own, centers)
        inside = np.flatnonzero(labels >= 0)
        tree = _tree(labels, _merges(X[inside], labels[inside]))
        order = [int(labels[leaf.members].max()) for leaf in tree.leaves()]
        return cls(tree, tree.cut(len(order)), centers[order], X)

    @property
    def outliers_(self) -> Array:
        """Documents in no leaf."""
        return np.flatnonzero(self.labels_ < 0)

    @property
    def membership_(self) -> Array:
        """A one at the leaf of each document; made when asked for, since most of it is zero."""
        return (self.labels_[:, None] == np.arange(len(self.components_))).astype(self.components_.dtype)

    def flatten(self) -> FlatTopics:
        """Return all documents explained by all topics at once."""
        return FlatTopics.of(self.X, self.components_)

    def transform(self, X: Any) -> Array:
        """Return the memberships of other documents, as in `flatten`."""
        return FlatTopics.of(sparse.csr_array(normalize(X)), self.components_).membership_


def _settled(X: sparse.csr_array, labels: Array) -> tuple[Array, Array]:
    """Return labels and centres after documents have moved to the nearest centre until none wants to."""
    labels = np.unique(labels, return_inverse=True)[1]
    runs = SphericalRuns(X, int(labels.max()) + 1)
    run = runs.descend(labels, MOVES)
    return run.labels, runs.components(run.centers).toarray()


def _placed(X: sparse.csr_array, inside: Array, own: Array, centers: Array) -> Array:
    """Return labels of all documents: those that were set aside go to the nearest centre that they touch."""
    labels = np.full(X.shape[0], -1, dtype=np.intp)
    labels[inside] = own
    aside = np.flatnonzero(labels < 0)
    cosines = X[aside] @ centers.T
    labels[aside] = np.where(cosines.max(axis=1, initial=0) > 0, cosines.argmax(axis=1), -1)
    return labels


@dataclass(frozen=True)
class Merge:
    """Topic `other` becomes a part of topic `one`, at a loss."""

    one: int
    other: int
    loss: float


def _merges(X: sparse.csr_array, labels: Array) -> list[Merge]:
    """Return the merges to a single topic, each time of the pair that loses least.

    With s the sum of a topic's documents, their cosines with its centre s/‖s‖ add up to ‖s‖. So a merge loses
    ‖s_a‖ + ‖s_b‖ − ‖s_a + s_b‖ of what spherical k-means maximises. It takes O(k²) a merge, for k topics.
    """
    places = np.arange(len(labels) + 1)
    Z = sparse.csr_array((np.ones(len(labels)), labels, places), shape=(len(labels), labels.max() + 1))
    S = sparse.csr_array(Z.T @ X)
    G = (S @ S.T).toarray()  # of sums with each other, k × k
    losses = np.array([_losses(G, one) for one in range(len(G))])
    found = []
    for _ in range(len(G) - 1):
        one, other = sorted(map(int, np.unravel_index(losses.argmin(), losses.shape)))
        found.append(Merge(one, other, float(losses[one, other])))
        G[one] += G[other]
        G[:, one] += G[:, other]
        losses[one] = losses[:, one] = np.where(np.isinf(losses[one]), np.inf, _losses(G, one))
        losses[other] = losses[:, other] = np.inf
    return found


def _losses(G: Array, one: int) -> Array:
    """Return what a topic's merges with all others would lose; infinite with itself."""
    squares = G.diagonal()
    lengths = np.sqrt(squares)
    losses = lengths + lengths[one] - np.sqrt(squares + squares[one] + 2 * G[one])
    losses[one] = np.inf
    return losses


def _joined(labels: Array, merges: list[Merge]) -> Array:
    into = np.arange(labels.max() + 1)
    for merge in merges:
        into[into == merge.other] = merge.one
    return into[labels]


def _tree(labels: Array, merges: list[Merge]) -> Tree:
    """Return the tree whose splits take the merges back, the last first; the larger part is on the left."""
    members = [np.flatnonzero(labels == topic) for topic in range(int(labels.max()) + 1)]
    parts: list[list[tuple[int, Array]]] = []
    for merge in merges:
        parts.append([(topic, members[topic]) for topic in (merge.one, merge.other)])
        members[merge.one] = np.union1d(members[merge.one], members[merge.other])
    tree = Tree(len(labels))
    nodes = dict.fromkeys(range(len(members)), 0)
    for merge, both in zip(reversed(merges), reversed(parts), strict=True):
        node = tree.nodes[nodes[merge.one]]
        node.score = merge.loss
        both.sort(key=lambda part: -len(part[1]))
        for (topic, _), child in zip(both, tree.split(node.number, [own for _, own in both]), strict=True):
            nodes[topic] = child.number
    return tree
