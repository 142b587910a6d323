"""Agglomerative clustering of similarities by SciPy."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import squareform
from sklearn.utils import check_random_state

from symclust._types import AffinityLike, Array, Data, Options, RandomState
from symclust.estimators._base import HardEstimator
from symclust.exceptions import CombinationError
from symclust.metrics import within_cluster_similarity
from symclust.operators import Operator, Sparse
from symclust.validation import check_known, check_n_clusters, check_similarity

METHODS = ("single", "complete", "average")


class LinkageClustering(HardEstimator):
    """Merge the two most similar clusters until n_clusters are left.

    The similarity of two clusters is that of their most similar samples ("single"), of their least similar
    ones ("complete") or the average over all pairs ("average"). SciPy merges by the distances max K − K_ij.

    Parameters
    ----------
    n_clusters : int or "auto", default=2
        Number of clusters; "auto" chooses it, and `selection_` says why.
    linkage : {"average", "single", "complete"}, default="average"
        What the similarity of two clusters is.
    affinity : str or callable, default="gaussian"
        How samples become similarities, as in `SymNMF`; negative similarities are allowed. A sparse
        similarity, such as "nearest_neighbors", can be used with "single" only: the others need all pairs.
        That of "cosine" is never written out; give it as an array.
    affinity_params : dict, default=None
        Parameters of the affinity, as in `SymNMF`.
    random_state : int, RandomState or None, default=None
        Makes the choice of ``n_clusters="auto"`` repeatable; nothing else is left to chance.

    Attributes
    ----------
    labels_, membership_, affinity_matrix_, node_names_
        As in `SymNMF`; `membership_` has a single one in each row.
    linkage_matrix_ : ndarray of shape (n_samples − 1, 4)
        The merges, for SciPy's ``dendrogram``.
    objective_ : float
        Average within-cluster similarity (17); larger is better.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import LinkageClustering
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))
    >>> LinkageClustering(2, affinity="precomputed").fit(K).labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    _fits_by_chance: ClassVar[bool] = False

    def __init__(
        self,
        n_clusters: int | str = 2,
        *,
        linkage: str = "average",
        affinity: AffinityLike = "gaussian",
        affinity_params: Options = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.random_state = random_state

    def fit(self, X: Data, y: object = None) -> Self:
        """Merge the samples bottom-up.

        Parameters
        ----------
        X : array-like, sparse, graph or Operator
            As in `SymNMF`.
        y : ignored
        """
        check_n_clusters(self.n_clusters)
        check_known("linkage", self.linkage, METHODS)
        check_random_state(self.random_state)
        similarity = self._read(X)
        K = similarity.operator
        k = check_n_clusters(self.n_clusters, K.n)
        check_similarity(K, nonnegative=False)
        self.linkage_matrix_ = merge_clusters(K, self.linkage)
        labels = cut_merges(self.linkage_matrix_, k, K.n)
        objective = within_cluster_similarity(K, labels)
        self._store_labels(similarity, labels, k, objective=objective)
        return self


def merge_clusters(K: Operator, method: str) -> Array:
    """Return all merges as SciPy's linkage matrix; `method` is "single", "complete" or "average"."""
    if K.n == 1:
        return np.empty((0, 4))
    if isinstance(K, Sparse) and method == "single":
        return _single_linkage(K)
    if not K.is_dense:
        single = "linkage='single', or " if isinstance(K, Sparse) else ""
        raise CombinationError(
            f"linkage={method!r} needs the similarity of all pairs, {K.n} × {K.n} numbers, and "
            f"{K!r} does not hold them. Use {single}a dense similarity: that of affinity='gaussian', "
            "or an array with affinity='precomputed'."
        )
    distances = K.largest() - K.toarray()
    np.fill_diagonal(distances, 0)
    return linkage(squareform(np.maximum(distances, 0), checks=False), method)


def _single_linkage(K: Sparse) -> Array:
    """Return the merges along the spanning tree of greatest similarity; pairs that are not stored count as 0.

    Single linkage only ever uses edges of that tree: n − 1 numbers in place of n².
    """
    graph = K.csr.copy()
    values, ranks = np.unique(graph.data, return_inverse=True)
    # SciPy takes an edge of length zero for absent. Ranks are positive, and exact on any scale.
    graph.data = (len(values) - ranks).astype(np.float64)
    tree = minimum_spanning_tree(graph).tocoo()
    similarities = values[len(values) - tree.data.astype(np.intp)].astype(np.float64)
    others = _spanning_pairs(K)  # with a similarity of 0, stored or not
    ends = np.concatenate([np.column_stack([tree.row, tree.col]), others])
    heights = K.largest() - np.concatenate([similarities, np.zeros(len(others))])
    order = np.argsort(heights, kind="stable")
    return _merge_along(ends[order].tolist(), heights[order].tolist(), K.n)


def _spanning_pairs(K: Sparse) -> Array:
    """Return pairs that join all samples that pairs without negative similarity join, in linear time."""
    unseen, pairs = set(range(K.n)), []
    while unseen:
        waiting = [unseen.pop()]
        while waiting and unseen:
            node = waiting.pop()
            entries = slice(K.indptr[node], K.indptr[node + 1])
            found = sorted(unseen.difference(K.indices[entries][K.values[entries] < 0].tolist()))
            unseen.difference_update(found)
            pairs += [(node, other) for other in found]
            waiting += found
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def _merge_along(edges: list[list[int]], heights: list[float], n: int) -> Array:
    """Return SciPy's linkage matrix of merges along edges, those within a cluster left out."""
    parent, sizes, rows = list(range(n)), [1] * n, []

    def find(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for edge, height in zip(edges, heights, strict=True):
        a, b = sorted(map(find, edge))
        if a != b:
            parent[a] = parent[b] = len(parent)
            parent.append(len(parent))
            sizes.append(sizes[a] + sizes[b])
            rows.append((a, b, height, sizes[-1]))
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def cut_merges(merges: Array, k: int, n: int) -> Array:
    """Return the labels when k clusters are left, numbered by their first samples."""
    if len(merges) == 0:
        return np.zeros(n, dtype=np.intp)
    # Heights may be tied; numbering the merges makes every number of clusters a cut.
    numbered = merges.copy()
    numbered[:, 2] = np.arange(len(merges))
    labels = fcluster(numbered, len(merges) - k + 0.5, criterion="distance")
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]
