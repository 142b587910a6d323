"""Clusters of documents: several divisions, judged by whether two halves of the words agree on them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.documents import DocumentWeights
from symclust.graphs import NearestNeighbors, RandomWalk
from symclust.hierarchy import Samples, TopicGrowth, Trials
from symclust.hierarchy.topics import scores, splits
from symclust.k_means import SphericalRuns, joined, uneven_merges
from symclust.metrics import cross_view_agreement
from symclust.operators import Operator, as_operator
from symclust.solvers import Control
from symclust.starts import tree_of_communities

# Chosen by the labels of eleven collections (docs/evidence/documents.md).
COMMUNITIES, TREES = 2, 2  # leaves of a tree of communities for each cluster wanted; such trees
TOPICS = 3  # leaves of a tree of topics for each cluster wanted
EXPONENTS = (0.25, 0.5)  # of sizes, when leaves are merged: the lower, the more uneven are clusters
HEAVIEST = 40  # words of a document; on five collections, clusters by 40 and by all were as good
COMPARED = 50_000  # documents, at most: their pairs cost time
MOVES = 10  # rounds in which documents change their cluster: few do in later ones


def document_clusters(
    X: sparse.csr_array, n_clusters: int, rng: Any, leaves: Sequence[Array], graph: Operator | None = None
) -> Array | None:
    """Return clusters of documents, sized as halves of the vocabulary agree on; None if they are too few.

    Documents are first divided into more leaves than clusters, by trees. They move to the nearest centres of
    the leaves, and leaves merge to `n_clusters`, in two ways that differ in how much sizes count: collections
    differ in how uneven their subjects are, and no objective of clusters says by how much.
    `cross_view_agreement` does. The way that agrees more wins, and the clusters of all trees vote.

    `X` holds weighted documents, n × d, as rows of unit length, none of them zero. `leaves` are those of
    documents in each tree, with −1 for a document in none, which goes to the nearest. `graph` holds the
    similarities for trees of communities; by default they are those of the heaviest words of documents, if
    these are not too many to be compared with each other.
    """
    most = min(COMMUNITIES * n_clusters, X.shape[0] // 2)
    if n_clusters < 2 or most <= n_clusters:
        return None
    with single_threaded_blas():
        if graph is None and X.shape[0] <= COMPARED:
            graph = graph_of_heaviest(X)
        if graph is not None:
            grow = partial(tree_of_communities, graph, Control(), most)
            leaves = [*leaves, *(grow(int(rng.randint(2**31))).labels for _ in range(TREES))]
        else:
            leaves = [*leaves, *(topic_leaves(X, n_clusters, rng) for _ in range(TREES))]
        cut = [settled(X, own) for own in leaves if own.max() >= n_clusters]
        groups = [[_merged(X, own, n_clusters, exponent) for own in cut] for exponent in EXPONENTS]
    if not cut:
        return None
    agreement = np.asarray(cross_view_agreement(X, np.concatenate(groups), random_state=rng))
    return vote(groups[int(agreement.reshape(len(groups), -1).mean(axis=1).argmax())], n_clusters)


def topic_leaves(X: sparse.csr_array, n_clusters: int, rng: Any) -> Array:
    """Return the leaves of a tree of topics, as `topics` grows it, of documents with rows of unit length."""
    cut = DocumentWeights(tfidf=False).fit_transform(X)
    trials = Trials(splits.rank_two, score=scores.energy)
    growth = TopicGrowth(Samples.of(cut), X.shape[0], trials, rng)
    with single_threaded_blas():
        tree = growth.grow(min(TOPICS * n_clusters, X.shape[0]))
    return tree.cut(tree.n_splits + 1)


def graph_of_heaviest(X: sparse.csr_array) -> Operator:
    """Return random walks along the cosines of nearest documents, by the heaviest words of each alone.

    Common words make most of the products of all pairs, and next to nothing of the cosines.
    """
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    order = np.argsort(rows - X.data, kind="stable")  # by rows, then by falling weight, which is at most one
    kept = np.sort(order[np.arange(X.nnz) - X.indptr[rows] < HEAVIEST])
    parts = X.data[kept], X.indices[kept], np.searchsorted(kept, X.indptr)
    rule = NearestNeighbors(weights="cosine", normalize=False)
    W = rule.fit(sparse.csr_array(parts, shape=X.shape), check_input=False)
    return as_operator(RandomWalk().fit(W))


def settled(X: sparse.csr_array, labels: Array, moves: int = MOVES) -> Array:
    """Return clusters after documents have moved until each is at its nearest centre; all have one then."""
    inside = np.flatnonzero(labels >= 0)
    own = np.unique(labels[inside], return_inverse=True)[1]
    runs = SphericalRuns(X[inside], int(own.max()) + 1)
    run = runs.descend(own, moves)
    if len(inside) == len(labels):
        return run.labels
    nearest = np.asarray(X @ runs.components(run.centers).toarray().T).argmax(axis=1)
    nearest[inside] = run.labels
    return nearest


def _merged(X: sparse.csr_array, leaves: Array, n_clusters: int, exponent: float) -> Array:
    sizes = np.bincount(leaves)
    Z = sparse.csr_array((np.ones(len(leaves)), leaves, np.arange(len(leaves) + 1)))
    found = uneven_merges(Z.T @ X, sizes, exponent)[: max(0, len(sizes) - n_clusters)]
    # Centres pull documents from large clusters to small ones: one step where sizes may differ most.
    return settled(X, joined(leaves, found), 1 if exponent == min(EXPONENTS) else MOVES)


def vote(clusterings: list[Array], n_clusters: int) -> Array:
    """Return the cluster that most of several clusterings put each sample in.

    They are first numbered as the one that is most like all others (normalised mutual information), which
    also decides ties.
    """
    likeness = [sum(normalized_mutual_info_score(one, other) for other in clusterings) for one in clusterings]
    medoid = clusterings[int(np.argmax(likeness))]
    each = np.arange(len(medoid))
    votes = np.zeros((len(medoid), n_clusters))
    votes[each, medoid] = 0.5
    for labels in clusterings:
        together = np.zeros((n_clusters, n_clusters))
        np.add.at(together, (labels, medoid), 1)
        votes[each, linear_sum_assignment(-together)[1][labels]] += 1
    return votes.argmax(axis=1)
