"""Placing unseen samples on the simplex."""

from __future__ import annotations

from typing import Any

import numpy as np

from symclust._threads import single_threaded_blas
from symclust.constraints import project_simplex
from symclust.estimators._input import Similarity
from symclust.estimators._placing import Placer
from symclust.nnls import block_pivoting

PENALTY = 100.0  # weight of the sum, relative to the Gram matrix
PASSES = 6  # each corrects the sum by what the one before left over, and gains two digits


class SimplexPlacer(Placer):
    """Solves min ‖a − Pp/c‖² over the simplex for the similarities a of a new sample.

    The sum of p is kept by an augmented Lagrangian: nonnegative least squares with a penalty on the sum, a
    few times with the right-hand side corrected.
    """

    def __init__(self, similarity: Similarity, P: np.ndarray, scale: float) -> None:
        super().__init__(similarity, P)
        self.scale = scale

    def _place(self, A: Any) -> np.ndarray:
        return self._memberships_of(A)[0]

    def _solve(self, A: Any) -> tuple[np.ndarray, np.ndarray]:
        p, attraction = self._memberships_of(A)
        return p / p.dtype.type(self.scale), attraction

    def _memberships_of(self, A: Any) -> tuple[np.ndarray, np.ndarray]:
        dtype = self.H.dtype
        with single_threaded_blas():
            attraction = np.ascontiguousarray(A @ self.H, dtype=dtype)
        weight = PENALTY * float(np.trace(self._gram)) / len(self._gram)
        left = (self._gram + weight).astype(dtype)
        right = attraction * dtype.type(self.scale)
        multipliers = np.full((len(right), 1), weight, dtype=dtype)
        for _ in range(PASSES):
            p = block_pivoting(left, np.ascontiguousarray(right + multipliers))
            multipliers += dtype.type(weight) * (1 - p.sum(axis=1, keepdims=True))
        return project_simplex(p), attraction
