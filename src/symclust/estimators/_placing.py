"""Placing unseen samples: each one's row of memberships from its similarities to the training samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symclust import _kernels
from symclust._threads import split
from symclust.estimators._input import Similarity
from symclust.estimators._known_rows import KnownRows
from symclust.exceptions import CombinationError, InputError
from symclust.nnls.block_pivoting import block_pivoting
from symclust.validation import check_features

ROWS = 4096  # new samples at a time: a complete graph has a dense row for each


class Placer:
    """Solves min ‖a − H h‖² over h ≥ 0 for the similarities a of a new sample; known samples keep theirs."""

    def __init__(self, similarity: Similarity, H: np.ndarray, affinity: Any) -> None:
        self.similarity, self.H, self.affinity = similarity, H, affinity
        self._known: KnownRows | None = None

    def check(self, X: Any) -> Any:
        """Return X as an array that can be placed, or say why it cannot."""
        if self.similarity.affinity is None and callable(self.affinity):
            raise CombinationError(
                "affinity is a function, which cannot compare unseen samples with the training samples. "
                "Fit with affinity='precomputed' and give predict the similarities (n_new × n_train)."
            )
        X = check_features(X)
        if self.similarity.affinity is None and X.shape[1] != len(self.H):
            raise InputError(
                f"X has {X.shape[1]} features, but this model is expecting {len(self.H)} features as input: "
                "the similarities of each new sample to the training samples."
            )
        return X

    def memberships(self, X: Any) -> np.ndarray:
        """Return a row of memberships for each row of X."""
        X = self.check(X)
        G = _kernels.gram(self.H)[0].astype(self.H.dtype)
        placed = np.empty((X.shape[0], self.H.shape[1]), dtype=self.H.dtype)
        for rows in split(X.shape[0], ROWS):
            placed[rows] = block_pivoting(G, self._attraction(self.cross(X[rows])))
        known = self._find_known(X)
        placed[known >= 0] = self.H[known[known >= 0]]
        return placed

    def cross(self, X: Any) -> Any:
        """Return the similarities of new samples to the training samples."""
        return X if self.similarity.affinity is None else self.similarity.affinity.extend(X)

    def _attraction(self, A: Any) -> np.ndarray:
        product = A @ self.H
        return np.ascontiguousarray(
            product.toarray() if sparse.issparse(product) else product, dtype=self.H.dtype
        )

    def _find_known(self, X: Any) -> np.ndarray:
        if self.similarity.samples is None:
            return np.full(X.shape[0], -1)
        if self._known is None:
            self._known = KnownRows(self.similarity.samples)
        return self._known.find(X.astype(self.similarity.samples.dtype, copy=False))
