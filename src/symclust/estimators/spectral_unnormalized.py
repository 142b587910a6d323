"""Spectral clustering without normalisation."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from symclust.estimators._spectral import SpectralEstimator
from symclust.operators import Operator, Shifted


class SpectralUnnormalized(SpectralEstimator):
    """K-means on the rows of the eigenvectors of the k smallest eigenvalues of the Laplacian D − K.

    A relaxation of the ratio cut. It tends to cut off single samples: of the three spectral methods it is the
    one to compare with, not the one to use.

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
    >>> from symclust import SpectralUnnormalized
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))
    >>> labels = SpectralUnnormalized(2, affinity="precomputed", random_state=0).fit(K).labels_
    >>> labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5]
    np.True_
    """

    def _cluster(self, K: Operator, k: int, rng: np.random.RandomState) -> tuple[np.ndarray, float]:
        nothing = sparse.csr_array(K.shape, dtype=K.dtype)
        _, vectors = Shifted(nothing, K, 1.0).eigsh(k)  # the largest of −L
        return self._k_means(vectors, k, rng)
