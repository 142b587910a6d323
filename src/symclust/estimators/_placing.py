"""Placing unseen samples: each one's row of memberships from its similarities to the training samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from symclust import _kernels
from symclust._threads import single_threaded_blas, split
from symclust.estimators._input import Similarity
from symclust.estimators._known_rows import KnownRows
from symclust.exceptions import CombinationError
from symclust.nnls import block_pivoting
from symclust.operators import Operator

ROWS = 4096  # new samples at a time: a complete graph has a dense row for each


class Placer:
    """Solves min ‖w a − H h‖² for the similarities a of a new sample; known samples keep their rows.

    Parameters
    ----------
    similarity : Similarity
        Where a comes from.
    H : ndarray of shape (n, k)
        The memberships of the training samples.
    solve : callable
        From the normal equations, HᵀH and a right-hand side for each row, to the rows h; h ≥ 0 by default.
    weight : float
        The factor w: what a similarity has become in the matrix that H fits.
    members : ndarray of shape (n, k)
        The rows that known samples keep; H by default.
    """

    def __init__(
        self,
        similarity: Similarity,
        H: np.ndarray,
        solve: Callable[[np.ndarray, np.ndarray], np.ndarray] = block_pivoting,
        weight: float = 1.0,
        members: np.ndarray | None = None,
    ) -> None:
        self.similarity, self.H, self.weight = similarity, H, weight
        self.members = H if members is None else members
        self._minimise = solve

    def memberships(self, X: Any) -> np.ndarray:
        """Return a row of memberships for each row of X."""
        placed, keys = np.empty((X.shape[0], self.H.shape[1]), dtype=self.H.dtype), []
        for rows, A in self._similarities(X):
            placed[rows] = self._place(A)
            if self._known is not None:
                keys += self._known.keys(A if self.similarity.samples is None else X[rows])
        if self._known is not None:
            known = self._known.find(keys)
            placed[known >= 0] = self.members[known[known >= 0]]
        return placed

    def residuals(self, X: Any) -> np.ndarray:
        """Return min ‖a − Hh‖² / ‖a‖² for each row of X, 1 for a sample without similarities."""
        found = np.ones(X.shape[0])
        for rows, A in self._similarities(X):
            h, attraction = (part.astype(np.float64) for part in self._solve(A))
            squares = A.multiply(A) if sparse.issparse(A) else A * A
            norms = self.weight**2 * np.asarray(squares.sum(axis=1, dtype=np.float64))
            misfit = norms - 2 * (h * attraction).sum(axis=1) + ((h @ self._gram) * h).sum(axis=1)
            np.divide(np.maximum(misfit, 0), norms, out=found[rows], where=norms > 0)
        return found

    def _similarities(self, X: Any) -> Iterator[tuple[slice, Any]]:
        if self.similarity.extend is None:
            raise CombinationError(
                "affinity is a function, which cannot compare unseen samples with the training samples. "
                "Fit with affinity='precomputed' and give predict the similarities (n_new × n_train)."
            )
        for rows in split(X.shape[0], ROWS):
            yield rows, self.similarity.extend(X[rows])

    def _place(self, A: Any) -> np.ndarray:
        """Return the rows of memberships of samples with similarities A."""
        return self._solve(A)[0]

    def _solve(self, A: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the solutions h, a row a sample, and the right-hand sides AH of their normal equations."""
        with single_threaded_blas():
            attraction = np.ascontiguousarray(A @ self.H, dtype=self.H.dtype)
            attraction *= self.H.dtype.type(self.weight)
            return self._minimise(self._gram.astype(self.H.dtype), attraction), attraction

    @cached_property
    def _gram(self) -> np.ndarray:
        return _kernels.gram(self.H)[0]

    @cached_property
    def _known(self) -> KnownRows | None:
        samples = self.similarity.matrix if self.similarity.samples is None else self.similarity.samples
        return None if isinstance(samples, Operator) else KnownRows(samples)
