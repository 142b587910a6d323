"""Spectral clustering: k-means on rows of eigenvectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from symclust.estimators._hard import HardEstimator
from symclust.estimators._input import without_normalizing
from symclust.estimators._k_means import k_means
from symclust.graphs import normalized_cut
from symclust.operators import Operator
from symclust.validation import check_n_clusters, check_number, check_similarity


class SpectralEstimator(HardEstimator):
    """What the spectral methods share; each says what it makes of the similarity.

    The methods normalise for themselves: the default affinity, which is the graph of nearest neighbours after
    the normalised cut, is taken before the cut here.
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        affinity: str | Callable[..., Any] = "nearest_neighbors",
        affinity_params: dict[str, Any] | None = None,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.n_init = n_init
        self.random_state = random_state

    @abstractmethod
    def _cluster(self, K: Operator, k: int, rng: np.random.RandomState) -> tuple[np.ndarray, float]:
        """Return the labels and the objective of what was done to the eigenvectors."""

    def _affinity_of(self, X: Any) -> tuple[Any, dict[str, Any] | None]:
        return without_normalizing(X, self.affinity, self.affinity_params)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : array-like, sparse, graph or Operator
            As in `SymNMF`.
        y : ignored
            For scikit-learn's conventions.
        """
        check_n_clusters(self.n_clusters)
        check_number("n_init", self.n_init, least=1, whole=True)
        similarity = self._read(X)
        K = similarity.operator
        k = check_n_clusters(self.n_clusters, K.n)
        check_similarity(K)
        labels, objective = self._cluster(K, k, check_random_state(self.random_state))
        self._store_labels(similarity, labels, k, objective=objective)
        return self

    def _k_means(self, rows: np.ndarray, k: int, rng: np.random.RandomState) -> tuple[np.ndarray, float]:
        model = k_means(rows, k, self.n_init, rng)
        return model.labels_, float(model.inertia_)


def unit_rows(K: Operator, k: int) -> np.ndarray:
    """Return the k leading eigenvectors of D^-1/2 K D^-1/2 with rows of unit length, or zero."""
    _, vectors = normalized_cut(K).eigsh(k)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
