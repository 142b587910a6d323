"""The nonnegative double singular value decomposition with its zeros filled."""

from __future__ import annotations

import numpy as np

from symclust.initialization.nndsvd import nndsvd
from symclust.objectives import Objective


def nndsvda(objective: Objective, n_columns: int, rng: np.random.RandomState | None = None) -> np.ndarray:
    """Return `nndsvd` with the mean of A in place of zeros, so that every solver can move them.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.initialization import nndsvda
    >>> from symclust.objectives import Frobenius
    >>> from symclust.operators import as_operator
    >>> blocks = np.kron(np.diag([2.0, 1.0]), np.ones((2, 2)))
    >>> float(nndsvda(Frobenius(as_operator(blocks)), 2).min())
    0.75
    """
    H = nndsvd(objective, n_columns, rng)
    H[H == 0] = objective.operator.mean()
    return H
