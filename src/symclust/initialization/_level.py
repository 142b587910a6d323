"""The size of entries that a start has."""

from __future__ import annotations

import numpy as np

from symclust.objectives import Objective


def entry_level(objective: Objective, n_columns: int) -> float:
    """Return √(m/k), m the mean of A: a product HHᵀ of such entries has the mean of A.

    Where negative entries leave no positive mean, m is the root of the mean square instead: H = 0 would be
    a stationary point.
    """
    mean = objective.operator.mean()
    if mean <= 0:
        mean = float(np.sqrt(objective.operator.squared_norm())) / objective.operator.n
    return float(np.sqrt(mean / n_columns))
