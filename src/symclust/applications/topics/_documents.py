"""Weighted documents as the later steps of `topics` use them: in memory, or in blocks on other machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from symclust._types import Array
from symclust.hierarchy import Tree
from symclust.k_means import SphericalRuns
from symclust.metrics import coherence_of_counts, topic_coherence
from symclust.operators import RowBlocks

MOVES = 50  # rounds in which documents change their topic, at most: few do in the last ones
SLACK = 16  # times the machine precision: who is nearer by less is not nearer, as in SphericalRuns
COHERENT = 20  # terms whose coherence is measured

Typical = dict[int, tuple[Array, Array]]  # for each node documents, the most typical first, and their cosines


def documents_of(X: Any) -> Documents | BlockDocuments:
    """Documents with rows of unit length, of a CSR matrix or of blocks of one."""
    return (
        BlockDocuments(X.map(normalized_rows)) if isinstance(X, RowBlocks) else Documents(normalized_rows(X))
    )


def normalized_rows(X: sparse.csr_array) -> sparse.csr_array:
    """Rows of length one."""
    return sparse.csr_array(normalize(X))


class Documents:
    """Rows of unit length in memory.

    Labels are numbers from 0 on, none left out, and -1 for documents that belong nowhere.
    """

    def __init__(self, X: sparse.csr_array) -> None:
        self.X = X

    def settled(self, labels: Array, moves: int = MOVES) -> tuple[Array, Array]:
        """Labels and centres after documents have moved until each is at its nearest centre."""
        inside = np.flatnonzero(labels >= 0)
        own = np.unique(labels[inside], return_inverse=True)[1]
        runs = SphericalRuns(self.X[inside], int(own.max()) + 1)
        run = runs.descend(own, moves)
        return _at(inside, run.labels, len(labels)), runs.components(run.centers).toarray()

    def placed(self, labels: Array, centers: Array) -> Array:
        """Labels in which documents without one go to the nearest centre that they touch."""
        labels, aside = labels.copy(), np.flatnonzero(labels < 0)
        labels[aside] = _nearest(self.X[aside], centers)
        return labels

    def sums(self, labels: Array, count: int) -> sparse.csr_array:
        """The sums of the documents of each label, count × terms."""
        return _sums(self.X, labels, count)[0]

    def frequencies(self, labels: Array, count: int) -> sparse.csr_array:
        """The numbers of documents of each label that have each term, count × terms."""
        return _frequencies(self.X, labels, count)[0]

    def coherence(self, topics: Sequence[Array]) -> Array:
        """The coherence of topics, each given by its terms."""
        return topic_coherence(self.X, topics, n_terms=COHERENT)

    def typical(self, tree: Tree, n_examples: int) -> Typical:
        """All documents of each node, by falling cosine with their mean: some may be copies."""
        found = {}
        for node in tree.walk():
            rows = self.X[node.members]
            mean = rows.T @ np.ones(len(node.members))
            cosines = (rows @ mean) / max(float(np.linalg.norm(mean)), np.finfo(float).tiny)
            order = np.argsort(-cosines, kind="stable")
            found[node.number] = node.members[order], cosines[order]
        return found


class BlockDocuments:
    """Rows of unit length in blocks, with the answers of `Documents` up to rounding.

    While documents move, their labels stay with their blocks: a round sends the centres, and gets the sums of
    the clusters, added up.
    """

    def __init__(self, X: RowBlocks) -> None:
        self.X = X

    def settled(self, labels: Array) -> tuple[Array, Array]:
        """Labels and centres after documents have moved until each is at its nearest centre."""
        inside = np.flatnonzero(labels >= 0)
        own = np.unique(labels[inside], return_inverse=True)[1]
        count = int(own.max()) + 1
        before = self._labels(_at(inside, own, len(labels)))
        centers = self._centers(before, before, count)[0]
        for _ in range(MOVES):
            now = self.X.map(_moved, centers, each=_each(before))
            new, sizes, n_moved = self._centers(now, before, count)
            if not sizes.all():
                now = self._without_empty(now, centers, sizes)
                new, _, n_moved = self._centers(now, before, count)
            before, centers = now, new
            if not n_moved:
                break
        return np.concatenate(before.gather(_itself)), centers.toarray()

    def _labels(self, labels: Array) -> RowBlocks:
        """Labels beside the rows they belong to."""
        return self.X.map(_second, each=[(part,) for part in self.X.split(labels)])

    def _centers(self, now: RowBlocks, before: RowBlocks, count: int) -> tuple[sparse.csr_array, Array, int]:
        """The centres of clusters, their sizes, and how many documents have changed sides."""
        S, sizes, moved = self.X.sum(_sums_and_moves, count, each=_each(now, before))
        return sparse.csr_array(normalize(S), dtype=self.X.dtype), sizes, int(moved)

    def _without_empty(self, labels: RowBlocks, centers: sparse.csr_array, sizes: Array) -> RowBlocks:
        """Give each empty cluster the document farthest from its centre, as `SphericalRuns` does."""
        own = np.concatenate(labels.gather(_itself))
        near = np.concatenate(self.X.gather(_own_cosines, centers, each=_each(labels)))
        for empty in np.flatnonzero(sizes == 0):
            is_free = (own >= 0) & (sizes[own] > 1)
            chosen = int(np.where(is_free, near, np.inf).argmin())
            sizes[own[chosen]] -= 1
            own[chosen], sizes[empty] = empty, 1
        return self._labels(own)

    def placed(self, labels: Array, centers: Array) -> Array:
        """Labels in which documents without one go to the nearest centre that they touch."""
        each = [(part,) for part in self.X.split(labels)]
        return np.concatenate(self.X.gather(_placed, sparse.csr_array(centers), each=each))

    def sums(self, labels: Array, count: int) -> sparse.csr_array:
        """The sums of the documents of each label, count × terms."""
        return self.X.sum(_sums, count, each=[(part,) for part in self.X.split(labels)])[0]

    def frequencies(self, labels: Array, count: int) -> sparse.csr_array:
        """The numbers of documents of each label that have each term, count × terms."""
        return self.X.sum(_frequencies, count, each=[(part,) for part in self.X.split(labels)])[0]

    def coherence(self, topics: Sequence[Array]) -> Array:
        """The coherence of topics, each given by its terms."""
        topics = [terms[:COHERENT] for terms in topics]
        terms = np.unique(np.concatenate(topics))
        together = self.X.sum(_together, terms)[0]
        places = [np.searchsorted(terms, own) for own in topics]
        return np.array([coherence_of_counts(together[own][:, own].toarray()) for own in places])

    def typical(self, tree: Tree, n_examples: int) -> Typical:
        """The `n_examples` documents of each node nearest to their mean."""
        nodes = list(tree.walk())
        # Every document by the deepest node it is in; a node has its own documents and those of its parts.
        deepest, contains = np.zeros(self.X.shape[0], dtype=np.intp), np.eye(len(tree.nodes), dtype=bool)
        for node in nodes:
            deepest[node.members] = node.number
        for node in reversed(nodes):
            contains[node.number] |= contains[list(node.children)].any(axis=0)
        means = normalize(sparse.csr_array(contains.astype(float)) @ self.sums(deepest, len(tree.nodes)))
        each = list(zip(self.X.split(deepest), self.X.starts.tolist(), strict=True))
        parts = self.X.gather(_typical, means, contains, n_examples, each=each)
        return {node.number: _first(n_examples, [part[node.number] for part in parts]) for node in nodes}


def _each(*blocks: RowBlocks) -> list[tuple[Any, ...]]:
    return list(zip(*(own.blocks for own in blocks), strict=True))


def _at(places: Array, values: Array, n: int) -> Array:
    """An array with values at some places and -1 elsewhere."""
    found = np.full(n, -1, dtype=np.intp)
    found[places] = values
    return found


def _first(count: int, parts: Iterable[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The documents of largest cosine, of equal ones the first."""
    rows, cosines = (np.concatenate(own) for own in zip(*parts, strict=True))
    order = np.lexsort((rows, -cosines))[:count]
    return rows[order], cosines[order]


# What is done with a block, on its worker -------------------------------------------------------------------


def _itself(labels: Array) -> Array:
    return labels


def _second(rows: Any, labels: Array) -> Array:
    return labels


def _moved(rows: sparse.csr_array, labels: Array, centers: sparse.csr_array) -> Array:
    """The nearest centre of each document; one that gains nothing beyond rounding stays."""
    cosines = np.asarray(rows @ centers.T.toarray())
    each, new = np.arange(len(labels)), cosines.argmax(axis=1)
    gains = cosines[each, new] > cosines[each, labels] + SLACK * np.finfo(cosines.dtype).eps
    return np.where((labels >= 0) & gains, new, labels)


def _own_cosines(rows: sparse.csr_array, labels: Array, centers: sparse.csr_array) -> Array:
    return np.asarray(rows.multiply(centers[labels]).sum(axis=1)).ravel()


def _sums(rows: sparse.csr_array, labels: Array, count: int) -> tuple[sparse.csr_array, Array]:
    """The sums of the documents of each label, and their numbers."""
    inside = np.flatnonzero(labels >= 0)
    own, places = labels[inside], np.arange(len(inside) + 1)
    Z = sparse.csr_array((np.ones(len(inside)), own, places), shape=(len(inside), count))
    return sparse.csr_array(Z.T @ rows[inside]), np.bincount(own, minlength=count)


def _frequencies(rows: sparse.csr_array, labels: Array, count: int) -> tuple[sparse.csr_array]:
    """The numbers of documents of each label that have each term."""
    return (_sums(_ones(rows), labels, count)[0],)


def _ones(rows: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)


def _sums_and_moves(rows: sparse.csr_array, labels: Array, before: Array, count: int) -> tuple[Any, ...]:
    """The same, and how many labels were others before."""
    return *_sums(rows, labels, count), np.count_nonzero(labels != before)


def _nearest(rows: sparse.csr_array, centers: Any) -> Array:
    cosines = rows @ centers.T
    cosines = cosines.toarray() if sparse.issparse(cosines) else cosines
    return np.where(cosines.max(axis=1, initial=0) > 0, cosines.argmax(axis=1), -1)


def _placed(rows: sparse.csr_array, labels: Array, centers: sparse.csr_array) -> Array:
    return Documents(rows).placed(labels, centers.toarray())


def _together(rows: sparse.csr_array, terms: Array) -> tuple[sparse.csr_array]:
    """The number of documents that have both of two terms."""
    present = rows[:, terms]
    present.data = np.ones(len(present.data))
    return (sparse.csr_array(present.T @ present),)


def _typical(
    rows: sparse.csr_array, deepest: Array, start: int, means: sparse.csr_array, contains: Array, count: int
) -> dict[int, tuple[Array, Array]]:
    found = {}
    for number, mean in enumerate(means):
        members = np.flatnonzero(contains[number, deepest])
        cosines = np.asarray(rows[members] @ mean.toarray().ravel())
        order = np.argsort(-cosines, kind="stable")[:count]
        found[number] = start + members[order], cosines[order]
    return found
