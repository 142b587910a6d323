"""Uniform random entries on the scale of A."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.objectives import Objective

__all__ = ["random"]


def random(objective: Objective, n_columns: int, rng: np.random.RandomState) -> Array:
    """Return H with independent entries uniform on [0, 2 √(m/k)], m the mean of A.

    A product HHᵀ of such a factor has about the mean of A, so that the descent starts on the right scale.
    Where negative entries leave no positive mean, m is the root of the mean square instead.

    Parameters
    ----------
    objective : Objective
        What will be minimised; A is its operator.
    n_columns : int
        k.
    rng : RandomState
        Where the numbers come from.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.starts import random
    >>> from symclust.objectives import Frobenius
    >>> from symclust.operators import as_operator
    >>> random(Frobenius(as_operator(np.ones((4, 4)))), 2, np.random.RandomState(0)).shape
    (4, 2)
    """
    H = rng.random_sample((objective.operator.n, n_columns))
    H *= 2 * entry_level(objective, n_columns)
    return H.astype(objective.operator.dtype, copy=False)


def entry_level(objective: Objective, n_columns: int) -> float:
    """Return √(m/k), m the mean of A: a product HHᵀ of such entries has the mean of A.

    Where negative entries leave no positive mean, m is the root of the mean square instead: H = 0 would be
    a stationary point.
    """
    mean = objective.operator.mean()
    if mean <= 0:
        mean = float(np.sqrt(objective.operator.squared_norm())) / objective.operator.n
    return float(np.sqrt(mean / n_columns))
