"""Gaussian similarity with a scale of its own for each sample."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from symclust._types import SimilarityLike
from symclust.exceptions import OptionError
from symclust.graphs._kernel import DistanceKernel, positive_scales

__all__ = ["SelfTuning", "self_tuning"]


class SelfTuning(DistanceKernel):
    """The affinity behind `self_tuning`, with `extend` for unseen samples.

    Attributes
    ----------
    scales_ : ndarray of shape (n_samples,)
        The local scales σ_i.
    """

    def __init__(
        self, n_neighbors: int | None = None, scale_neighbor: int = 7, normalize: bool = False
    ) -> None:
        super().__init__(n_neighbors, normalize)
        self.scale_neighbor = scale_neighbor

    def _check_options(self) -> None:
        super()._check_options()
        rank = self.scale_neighbor
        if not isinstance(rank, Integral) or isinstance(rank, bool) or rank < 1:
            raise OptionError(f"scale_neighbor={rank!r} is not possible: give a whole number from 1 on.")

    @property
    def _scale_rank(self) -> int:
        return self.scale_neighbor

    def _fit_scales(self, distances: np.ndarray) -> np.ndarray:
        return positive_scales(self._local(distances))

    def _new_scales(self, distances: np.ndarray) -> np.ndarray:
        local = self._local(distances)
        return np.where(local > 0, local, self.scales_.min())

    def _local(self, distances: np.ndarray) -> np.ndarray:
        """Distance to the k̂-th neighbour, below (22)."""
        if not distances.shape[1]:  # a single sample has no neighbours
            return np.zeros(distances.shape[0])
        return distances[:, min(self.scale_neighbor, distances.shape[1]) - 1]


def self_tuning(
    X: Any, n_neighbors: int | None = None, scale_neighbor: int = 7, normalize: bool = False
) -> SimilarityLike:
    """Self-tuning: e_ij = exp(−‖x_i − x_j‖² / (σ_i σ_j)), e_ii = 0 (Kuang, Yun and Park 2015, (22)).

    The local scale σ_i is the distance of x_i to its 7th neighbour: dense and thin regions are both
    connected.

    Parameters
    ----------
    X : array-like or sparse of shape (n_samples, n_features)
    n_neighbors : int, optional
        Keep only edges between a sample and its nearest neighbours (24). By default all: a sparse X is then
        refused, since the result is a dense n × n array.
    scale_neighbor : int
        Which neighbour sets the scale; the last there is, when there are fewer.
    normalize : bool
        Apply `normalized_cut` (25).

    Returns
    -------
    A : ndarray, or csr_array if `n_neighbors` is given, of shape (n_samples, n_samples)

    Notes
    -----
    A sample with 7 or more duplicates has σ_i = 0. It gets the smallest positive scale of the data instead
    (1 if there is none), so that duplicates have similarity 1 before normalisation and nothing is divided
    by 0.

    Examples
    --------
    >>> from symclust.graphs import self_tuning
    >>> self_tuning([[0.0], [1.0], [3.0]], scale_neighbor=1).round(3).tolist()
    [[0.0, 0.368, 0.011], [0.368, 0.0, 0.135], [0.011, 0.135, 0.0]]
    """
    return SelfTuning(n_neighbors, scale_neighbor, normalize).fit(X)
