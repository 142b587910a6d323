"""Gaussian similarity with one scale for all samples."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from symclust._types import SimilarityLike
from symclust.exceptions import OptionError
from symclust.graphs._kernel import DistanceKernel

__all__ = ["Gaussian", "gaussian"]

SCALE_NEIGHBOR = 7  # the default scale looks as far as the self-tuning one


class Gaussian(DistanceKernel):
    """The affinity behind `gaussian`, with `extend` for unseen samples.

    Attributes
    ----------
    sigma_ : float
        The scale used.
    """

    def __init__(
        self, sigma: float | None = None, n_neighbors: int | None = None, normalize: bool = False
    ) -> None:
        super().__init__(n_neighbors, normalize)
        self.sigma = sigma

    def _check_options(self) -> None:
        super()._check_options()
        sigma = self.sigma
        if sigma is not None and not (isinstance(sigma, Real) and 0 < sigma < np.inf):
            raise OptionError(f"sigma={sigma!r} is not possible: give a positive number or None.")

    @property
    def _scale_rank(self) -> int:
        return SCALE_NEIGHBOR if self.sigma is None else 0

    def _fit_scales(self, distances: np.ndarray) -> np.ndarray:
        self.sigma_ = _typical(distances) if self.sigma is None else float(self.sigma)
        return self._new_scales(distances)

    def _new_scales(self, distances: np.ndarray) -> np.ndarray:
        return np.full(distances.shape[0], self.sigma_)


def _typical(distances: np.ndarray) -> float:
    last = distances[:, min(SCALE_NEIGHBOR, distances.shape[1]) - 1] if distances.size else distances.ravel()
    positive = last[last > 0]
    return float(np.median(positive)) if positive.size else 1.0


def gaussian(
    X: Any, sigma: float | None = None, n_neighbors: int | None = None, normalize: bool = False
) -> SimilarityLike:
    """Gaussian similarity e_ij = exp(−‖x_i − x_j‖² / σ²), e_ii = 0 (Kuang, Yun and Park 2015, (9)).

    Parameters
    ----------
    X : array-like or sparse of shape (n_samples, n_features)
    sigma : float, optional
        The scale σ. By default the median over the samples of the distance to the 7th neighbour (the last
        there is, when there are fewer); samples for which it is 0, having so many duplicates, do not count,
        and if it is 0 for all, σ = 1.
    n_neighbors : int, optional
        Keep only edges between a sample and its nearest neighbours (24). By default all: a sparse X is then
        refused, since the result is a dense n × n array.
    normalize : bool
        Apply `normalized_cut` (25).

    Returns
    -------
    A : ndarray, or csr_array if `n_neighbors` is given, of shape (n_samples, n_samples)

    Notes
    -----
    Duplicates have similarity 1 before normalisation. A σ far below the distances makes similarities
    underflow to 0; samples left without edges are isolated, and a warning is given when all are.

    Examples
    --------
    >>> from symclust.graphs import gaussian
    >>> gaussian([[0.0], [1.0], [3.0]], sigma=2.0).round(3).tolist()
    [[0.0, 0.779, 0.105], [0.779, 0.0, 0.368], [0.105, 0.368, 0.0]]
    """
    return Gaussian(sigma, n_neighbors, normalize).fit(X)
