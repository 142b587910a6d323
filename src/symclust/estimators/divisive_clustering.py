"""Any clustering method, two clusters at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from symclust.estimators._base import SimilarityEstimator
from symclust.estimators._input import Similarity
from symclust.estimators._tree import TreeEstimator
from symclust.exceptions import OptionError
from symclust.operators import Operator


class DivisiveClustering(TreeEstimator):
    """Split clusters in two by another method, the least similar cluster first.

    The rule of `HierarchicalLeftStochastic` (Arora, Gupta, Kapila and Fazel 2013, 3.3) with any method in
    place of the left-stochastic decomposition.

    Parameters
    ----------
    estimator : clusterer
        What splits a cluster: an estimator of symclust, or any of scikit-learn's that accepts similarities as
        ``affinity="precomputed"``. It is cloned for each split, with two clusters and a precomputed affinity.
    n_clusters : int, default=2
        Number of leaves.
    affinity : str or callable, default="nearest_neighbors"
        How samples become similarities, once, for the root.
    affinity_params : dict, default=None
        Parameters of the affinity, as in `SymNMF`.

    Attributes
    ----------
    labels_, membership_, tree_, objective_, affinity_matrix_, node_names_
        As in `HierarchicalLeftStochastic`.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import DivisiveClustering, SpectralNJW
    >>> K = np.kron(np.array([[3.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 3.0]]), np.ones((2, 2)))
    >>> model = DivisiveClustering(SpectralNJW(random_state=0), 3, affinity="precomputed").fit(K)
    >>> len({tuple(model.labels_[pair]) for pair in ([0, 1], [2, 3], [4, 5])})
    3
    """

    def __init__(
        self,
        estimator: Any,
        n_clusters: int = 2,
        *,
        affinity: str | Callable[..., Any] = "nearest_neighbors",
        affinity_params: dict[str, Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.affinity_params = affinity_params

    def _check_options(self) -> None:
        super()._check_options()
        usable = hasattr(self.estimator, "get_params") and not isinstance(self.estimator, type)
        known = self.estimator.get_params() if usable else {}
        if not {"n_clusters", "affinity"} <= set(known):
            raise OptionError(
                f"estimator={self.estimator!r} must be a clusterer with the parameters n_clusters and "
                "affinity, such as SpectralNJW(), KernelKMeans() or SymNMF()."
            )

    def _halves(self, K: Operator) -> np.ndarray | None:
        if K.n < 2:
            return None
        splitter = clone(self.estimator).set_params(n_clusters=2, affinity="precomputed")
        given = K if isinstance(splitter, SimilarityEstimator) else Similarity(K).matrix
        with warnings.catch_warnings():
            # What is to be said of the similarity would be said again of each of its parts.
            warnings.simplefilter("ignore")
            labels = splitter.fit(given).labels_
        return np.asarray(labels != labels[0])
