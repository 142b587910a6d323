"""DIANA on similarities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symclust.estimators._tree import TreeEstimator
from symclust.hierarchy import splinter
from symclust.operators import Operator


class Diana(TreeEstimator):
    """Divisive analysis: clusters lose a splinter group, the least similar cluster first.

    DIANA (MacNaughton-Smith, Williams, Dale and Mockett 1964) for similarities instead of distances, as in
    Arora, Gupta, Kapila and Fazel (2013), 4.1: the sample least similar to the rest leaves the cluster, and
    draws along those that are more similar, on average, to the ones that left than to the ones that stay.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of leaves.
    affinity : str or callable, default="nearest_neighbors"
        How samples become similarities, as in `SymNMF`; negative similarities are welcome.
    affinity_params : dict, default=None
        Parameters of the affinity, as in `SymNMF`.

    Attributes
    ----------
    labels_, membership_, tree_, objective_, affinity_matrix_, node_names_
        As in `HierarchicalLeftStochastic`.

    Notes
    -----
    A split reads one row of K for each sample that leaves: O(n²) for dense K, O(n² + nonzeros) for sparse K,
    which stays sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import Diana
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))
    >>> Diana(2, affinity="precomputed").fit(K).labels_.tolist()
    [1, 1, 1, 0, 0, 0]
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        affinity: str | Callable[..., Any] = "nearest_neighbors",
        affinity_params: dict[str, Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.affinity_params = affinity_params

    def _halves(self, K: Operator) -> np.ndarray | None:
        return splinter(K)
