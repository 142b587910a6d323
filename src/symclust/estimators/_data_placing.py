"""Memberships of unseen samples from the features' factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from symclust import _kernels
from symclust._threads import single_threaded_blas
from symclust.nnls import block_pivoting
from symclust.operators import Bipartite
from symclust.two_factors import TwoFactors


class DataPlacer:
    """Solves the least squares problem of W for new samples; holds C, and nothing of the data.

    Attributes
    ----------
    components : ndarray of shape (k, d)
        The free columns of C, each scaled to length 1.
    norms : ndarray of shape (k,)
        Their lengths: the scale of the memberships. Without it the largest membership depends on how the
        scale of a column happens to be shared by the two factors.
    offset : ndarray of shape (d,)
        What every sample has whatever its memberships are.
    """

    def __init__(self, objective: TwoFactors, H: np.ndarray) -> None:
        C = objective.operator.sides(H)[1]
        self._C = np.ascontiguousarray(C[:, objective.free])
        self.norms = np.sqrt(np.einsum("ij,ij->j", self._C, self._C, dtype=np.float64)).astype(C.dtype)
        lengths = np.where(self.norms > 0, self.norms, 1)
        self.components = np.ascontiguousarray((self._C / lengths).T)
        self.offset = objective.offset(C)
        # The problem of a sample without entries: its right-hand side is what is known of every sample.
        empty = np.zeros((1, C.shape[1]), dtype=C.dtype)
        problem = objective.samples_problem(C, empty, _kernels.gram(np.ascontiguousarray(C))[0])
        self._left, self._known = problem.left, problem.right

    def memberships(self, X: Any) -> np.ndarray:
        """Return a row of memberships for each row of X."""
        with single_threaded_blas():
            right = Bipartite(X.astype(self._C.dtype, copy=False)).times(self._C) + self._known
            return block_pivoting(self._left, right) * self.norms
