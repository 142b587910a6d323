"""Placing unseen samples by labels; the n × k memberships are made only when somebody asks for them."""

from __future__ import annotations

import numpy as np

from symclust.estimators._input import Similarity
from symclust.estimators._placing import Placer
from symclust.nnls import block_pivoting


class LabelPlacer(Placer):
    """Places a sample by its average similarity to the samples of each cluster.

    A tree may have thousands of leaves, and its labels are all that most people want: the array H of zeros
    and ones comes into being at the first look at it.

    Parameters
    ----------
    similarity : Similarity
        Where similarities of new samples come from.
    labels : ndarray of shape (n,)
        The clusters of the training samples.
    n_clusters : int
        Their number.
    """

    def __init__(self, similarity: Similarity, labels: np.ndarray, n_clusters: int) -> None:
        self.similarity, self.weight, self._minimise = similarity, 1.0, block_pivoting
        self._labels, self._n_clusters = labels, n_clusters

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in ("H", "members"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        H = np.zeros((len(self._labels), self._n_clusters), dtype=self.similarity.operator.dtype)
        H[np.arange(len(self._labels)), self._labels] = 1
        self.H = self.members = H
        return H
