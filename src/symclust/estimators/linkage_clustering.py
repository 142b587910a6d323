"""Agglomerative clustering of similarities by SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sklearn.utils import check_random_state

from symclust.baselines import cut_merges, merge_clusters
from symclust.estimators._base import HardEstimator
from symclust.metrics import within_cluster_similarity
from symclust.validation import check_known, check_n_clusters, check_similarity

METHODS = ("single", "complete", "average")


class LinkageClustering(HardEstimator):
    """Merge the two most similar clusters until n_clusters are left.

    The similarity of two clusters is that of their most similar samples ("single"), of their least similar
    ones ("complete") or the average over all pairs ("average"). SciPy merges by the distances max K − K_ij.

    Parameters
    ----------
    n_clusters : int or "auto", default=2
        Number of clusters. "auto" chooses it; `selection_` then says why (docs/how_many_clusters.md).
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
        affinity: str | Callable[..., Any] = "gaussian",
        affinity_params: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> LinkageClustering:
        """Merge the samples bottom-up.

        Parameters
        ----------
        X : array-like, sparse, graph or Operator
            As in `SymNMF`.
        y : ignored
            For scikit-learn's conventions.
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
