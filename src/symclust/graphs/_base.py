"""What every affinity can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any

from scipy import sparse

from symclust._types import Array, Features, Matrix, SimilarityLike
from symclust.exceptions import InputError, OptionError
from symclust.graphs.normalized_cut import NormalizedCut, row_sums
from symclust.validation import check_features

__all__ = ["Affinity"]


class Affinity(ABC):
    """A rule that turns samples into similarities, and keeps what it learned to place unseen samples.

    A subclass says how similar the training samples are to each other (`_similarity`) and unseen ones to them
    (`_cross`). What becomes of these similarities afterwards is a step of its own with `fit` and `extend`, of
    which there is one, `NormalizedCut`.

    Parameters
    ----------
    n_neighbors : int or None
        Edges kept per sample by the union rule (24); None keeps the complete graph.
    normalize : bool
        Divide by the square roots of the degrees, the normalised cut (25).

    Attributes
    ----------
    X_ : ndarray or csr_array of shape (n_samples, n_features)
        The training samples.
    degrees_ : ndarray of shape (n_samples,)
        Row sums of the similarities before normalisation; only with ``normalize=True``.
    """

    def __init__(self, n_neighbors: int | None = None, normalize: bool = False) -> None:
        self.n_neighbors = n_neighbors
        self.normalize = normalize

    @abstractmethod
    def _similarity(self, X: Features, q: int | None) -> SimilarityLike:
        """Similarity of the training samples, fresh: of each to q neighbours, or of all to all."""

    @abstractmethod
    def _cross(self, X_new: Features, q: int | None) -> Matrix:
        """Similarity of unseen samples (rows) to the training samples (columns), fresh."""

    def fit(self, X: Any, check_input: bool = True) -> SimilarityLike:
        """Return the similarity of the samples, with zero self-edges, and remember what `extend` needs.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
        check_input : bool
            False takes X, which `validation.check_features` has returned, as it is and keeps it.

        Returns
        -------
        A : ndarray, csr_array or Operator of shape (n_samples, n_samples)
        """
        self._check_options()
        self.X_ = check_features(X, copy=True) if check_input else X
        E = self._similarity(self.X_, self._edges(self.X_.shape[0]))
        if not self.normalize:
            return E
        self._cut = NormalizedCut()
        A = self._cut.fit(E, self._degrees(E))
        self.degrees_ = self._cut.degrees_
        return A

    def extend(self, X_new: Any, check_input: bool = True) -> Matrix:
        """Return the similarity of unseen samples to the training samples.

        Scales and degrees of the training samples are those found by `fit`; a new sample's degree is the
        sum of its own similarities. With `n_neighbors` a new sample is joined to its nearest training
        samples only: it does not change whom these have as neighbours. A copy of a training sample is an
        unseen sample at distance zero.

        Parameters
        ----------
        X_new : array-like or sparse of shape (n_new, n_features)
        check_input : bool
            As in `fit`.

        Returns
        -------
        A_new : ndarray or csr_array of shape (n_new, n_samples)
        """
        X_new = self._like_training(check_features(X_new) if check_input else X_new)
        E = self._cross(X_new, self._edges(self.X_.shape[0]))
        return self._cut.extend(E) if self.normalize else E

    def _edges(self, n: int) -> int | None:
        """Return how many neighbours each of n samples is joined to; None is all."""
        return self.n_neighbors

    def _degrees(self, E: SimilarityLike) -> Array:
        return row_sums(E)

    def _check_options(self) -> None:
        q = self.n_neighbors
        if q is not None and (not isinstance(q, Integral) or isinstance(q, bool) or q < 1):
            raise OptionError(f"n_neighbors={q!r} is not possible: give a whole number from 1 on, or None.")

    def _like_training(self, X_new: Features) -> Features:
        """Return X_new in the precision and form (dense or sparse) of the training samples."""
        if X_new.shape[1] != self.X_.shape[1]:
            raise InputError(
                f"X has {X_new.shape[1]} features, but {type(self).__name__} is expecting {self.X_.shape[1]} "
                "features as input: those of the training samples, in the same order."
            )
        X_new = X_new.astype(self.X_.dtype, copy=False)
        if sparse.issparse(self.X_):
            return sparse.csr_array(X_new)
        return X_new.toarray() if sparse.issparse(X_new) else X_new
