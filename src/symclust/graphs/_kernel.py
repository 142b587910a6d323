"""Similarities that fall off with the distance between samples."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy import sparse

from symclust._types import Features, Matrix
from symclust.exceptions import CombinationError, warn
from symclust.graphs._base import Affinity
from symclust.graphs._complete import complete_kernel, cross_kernel, kernel
from symclust.graphs._neighbors import NeighborSearch
from symclust.graphs._union import directed, union

__all__ = ["DistanceKernel", "positive_scales"]


class DistanceKernel(Affinity):
    """exp(−‖x_i − x_j‖² / (σ_i σ_j)); a subclass says what σ is.

    Attributes
    ----------
    scales_ : ndarray of shape (n_samples,)
        σ_i of the training samples, positive.
    """

    @property
    @abstractmethod
    def _scale_rank(self) -> int:
        """How many neighbours `_fit_scales` and `_new_scales` need."""

    @abstractmethod
    def _fit_scales(self, distances: np.ndarray) -> np.ndarray:
        """σ of the training samples, from the distances to their neighbours in ascending order."""

    @abstractmethod
    def _new_scales(self, distances: np.ndarray) -> np.ndarray:
        """σ of unseen samples, from the distances to their nearest training samples."""

    def _similarity(self, X: Features) -> Matrix:
        q = self._edges(X)
        distances, neighbors = NeighborSearch(X).nearest(max(q, self._scale_rank))
        self.scales_ = self._fit_scales(distances)
        if not q:
            E = complete_kernel(X, self.scales_)
            found = E.any()
        else:
            E = union(self._directed(distances[:, :q], neighbors[:, :q], self.scales_))  # (24)
            found = E.nnz
        if not found and X.shape[0] > 1:
            warn(
                "All similarities are 0: the samples are too far apart for the scale (sigma between "
                f"{self.scales_.min():.3g} and {self.scales_.max():.3g}). Choose a larger sigma."
            )
        return E

    def _cross(self, X_new: Features) -> Matrix:
        q = self._edges(self.X_)
        distances, neighbors = NeighborSearch(self.X_).nearest(max(q, self._scale_rank), X_new)
        scales = self._new_scales(distances)
        if not q:
            return cross_kernel(X_new, self.X_, scales, self.scales_)
        return self._directed(distances[:, :q], neighbors[:, :q], scales)

    def _directed(self, distances: np.ndarray, neighbors: np.ndarray, scales: np.ndarray) -> sparse.csr_array:
        weights = kernel(distances**2, scales[:, None], self.scales_[neighbors])
        return directed(weights.astype(self.X_.dtype, copy=False), neighbors, self.X_.shape[0])

    def _edges(self, X: Features) -> int:
        """Return n_neighbors, or 0 for the complete graph, which a sparse X must not ask for."""
        if self.n_neighbors is None and sparse.issparse(X):
            gigabytes = X.shape[0] ** 2 * X.dtype.itemsize / 1e9
            raise CombinationError(
                f"The complete graph of {X.shape[0]} sparse samples would be a dense n x n array of "
                f"{gigabytes:.3g} GB. Give n_neighbors= to get a sparse graph, or X.toarray() "
                "if a dense one is what you want."
            )
        return self.n_neighbors or 0


def positive_scales(scales: np.ndarray) -> np.ndarray:
    """Replace zeros, which duplicates give, by the smallest positive scale there is, or 1.

    Then duplicates have similarity exp(0) = 1, and a group of duplicates is as narrow as the narrowest
    neighbourhood of the data.
    """
    positive = scales[scales > 0]
    return np.where(scales > 0, scales, positive.min() if positive.size else 1.0)
