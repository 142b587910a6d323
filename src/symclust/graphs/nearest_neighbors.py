"""The default graph: each sample joined to its nearest neighbours, normalised."""

from __future__ import annotations

from typing import Any

from symclust._types import Features, Matrix, SimilarityLike
from symclust.exceptions import OptionError
from symclust.graphs._base import Affinity
from symclust.graphs.cosine import Cosine
from symclust.graphs.distance_kernels import Gaussian, SelfTuning
from symclust.validation import check_features

__all__ = ["NearestNeighbors", "nearest_neighbors"]

WEIGHTS: dict[str, type[Affinity]] = {"cosine": Cosine, "gaussian": Gaussian, "self_tuning": SelfTuning}


class NearestNeighbors(Affinity):
    """The affinity behind `nearest_neighbors`, with `extend` for unseen samples.

    Similarities are those of the rule that `weights` names; neighbours and normalisation are the default's.
    """

    def __init__(
        self, n_neighbors: int | None = None, weights: str = "self_tuning", normalize: bool = True
    ) -> None:
        super().__init__(n_neighbors, normalize)
        self.weights = weights

    def _check_options(self) -> None:
        super()._check_options()
        if self.weights not in WEIGHTS:
            known = ", ".join(repr(name) for name in WEIGHTS)
            raise OptionError(f"weights={self.weights!r} is not known. Choose one of {known}.")

    def _edges(self, n: int) -> int | None:
        return self.n_neighbors or n.bit_length()  # ⌊log2 n⌋ + 1

    def _similarity(self, X: Features, q: int | None) -> SimilarityLike:
        self._rule = WEIGHTS[self.weights]()
        return self._rule._similarity(X, q)

    def _cross(self, X_new: Features, q: int | None) -> Matrix:
        return self._rule._cross(X_new, q)


def nearest_neighbors(
    X: Any, n_neighbors: int | None = None, weights: str = "self_tuning", normalize: bool = True
) -> SimilarityLike:
    """Join each sample to its nearest neighbours: the default graph (Kuang, Yun and Park 2015, 7.1).

    An edge is kept if either end has the other among its q nearest neighbours (24), so a sample has q or
    more edges.

    Parameters
    ----------
    X : array-like or sparse of shape (n_samples, n_features)
    n_neighbors : int, optional
        q; by default ⌊log2 n⌋ + 1. Where there are fewer other samples, all of them.
    weights : {"self_tuning", "gaussian", "cosine"}
        The similarity of two joined samples, with the defaults of the function of that name; "cosine" also
        looks for neighbours by cosine.
    normalize : bool
        Apply `normalized_cut` (25).

    Returns
    -------
    A : csr_array of shape (n_samples, n_samples)
        Symmetric, with zero diagonal, nonnegative (except for cosines of features with mixed signs).

    Notes
    -----
    Memory grows with n q; the neighbours are exact, found in blocks. Duplicates are neighbours at distance
    zero: a sample with more than q duplicates is joined only to duplicates. A single sample gives the empty
    1 × 1 graph.

    Examples
    --------
    >>> from symclust.graphs import nearest_neighbors
    >>> A = nearest_neighbors([[0.0], [1.0], [5.0], [6.0]], n_neighbors=1)
    >>> A.toarray().round(2).tolist()
    [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]
    """
    return NearestNeighbors(n_neighbors, weights, normalize).fit(check_features(X), check_input=False)
