"""Leading eigenvectors, turned to be as nonnegative as possible."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symclust._types import Array
from symclust.starts._base import Formula, Setting, Start, turned_embedding

__all__ = ["Spectral"]

FLOOR = 1e-3  # smallest entry relative to the mean: zeros would be fixed points of multiplicative updates


class Spectral(Formula):
    """[V Λ^½ Q]⁺, with VΛVᵀ the best approximation of A of rank k and Q a rotation.

    The rotation makes k far-apart rows, found by a pivoted QR factorization, as close to the axes as possible
    (the polar factor of these rows); a graph with k separate clusters then starts at its solution. A problem
    whose set allows negative entries starts with the signs of the eigenvectors.
    """

    fixed: ClassVar[bool] = True
    two_factors: ClassVar[bool] = True

    def factor(self, objective: Any, n_columns: int, rng: np.random.RandomState | None = None) -> Array:
        """H; `rng` is not used."""
        H = turned_embedding(objective.operator, n_columns)
        floor = FLOOR * np.abs(H).mean()
        return np.maximum(H, floor).astype(objective.operator.dtype)

    def find_in_set(self, setting: Setting, orthant: Setting, level: float) -> list[Start]:
        """The embedding with its signs, if the set allows any."""
        if setting.problem.constraint.nonnegative:
            return super().find_in_set(setting, orthant, level)
        return [Start(turned_embedding(setting.problem.operator, setting.n_columns))]
