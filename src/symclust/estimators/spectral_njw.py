"""Spectral clustering of Ng, Jordan and Weiss."""

from __future__ import annotations

import numpy as np

from symclust.estimators._spectral import SpectralEstimator, unit_rows
from symclust.operators import Operator


class SpectralNJW(SpectralEstimator):
    """K-means on the unit rows of the leading eigenvectors of D^-1/2 K D^-1/2 (Ng, Jordan and Weiss 2002).

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    affinity : str or callable, default="nearest_neighbors"
        How samples become similarities, as in `SymNMF`, but without the normalised cut: this method has its
        own normalisation.
    affinity_params : dict, default=None
        Parameters of the affinity, as in `SymNMF`.
    n_init : int, default=10
        Number of starts of k-means; the best is kept.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.

    Attributes
    ----------
    labels_, membership_, affinity_matrix_, node_names_
        As in `SymNMF`; membership_ has a one in each row.
    objective_ : float
        Sum of squared distances of the rows to their centres.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import SpectralNJW
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))
    >>> labels = SpectralNJW(2, affinity="precomputed", random_state=0).fit(K).labels_
    >>> labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5]
    np.True_
    """

    def _cluster(self, K: Operator, k: int, rng: np.random.RandomState) -> tuple[np.ndarray, float]:
        return self._k_means(unit_rows(K, k), k, rng)
