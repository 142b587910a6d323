"""Uniform random entries on the scale of A."""

from __future__ import annotations

import numpy as np

from symclust.objectives import Objective


def random(objective: Objective, n_columns: int, rng: np.random.RandomState) -> np.ndarray:
    """Return H with independent entries uniform on [0, 2 √(m/k)], m the mean of A.

    A product HHᵀ of such a factor has about the mean of A, so that the descent starts on the right scale.
    Where negative entries leave no positive mean, m is the root of the mean square instead: H = 0 would be
    a stationary point.

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
    >>> from symclust.initialization import random
    >>> from symclust.objectives import Frobenius
    >>> from symclust.operators import as_operator
    >>> random(Frobenius(as_operator(np.ones((4, 4)))), 2, np.random.RandomState(0)).shape
    (4, 2)
    """
    operator = objective.operator
    mean = operator.mean()
    H = rng.random_sample((operator.n, n_columns))
    level = mean if mean > 0 else float(np.sqrt(objective.squared_norm)) / operator.n
    H *= 2 * np.sqrt(level / n_columns)
    return H.astype(operator.dtype, copy=False)
