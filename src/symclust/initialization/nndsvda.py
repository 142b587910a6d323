"""The nonnegative double singular value decomposition with its zeros filled."""

from __future__ import annotations

import numpy as np

from symclust.initialization._level import entry_level
from symclust.initialization.nndsvd import nndsvd
from symclust.objectives import Objective

__all__ = ["nndsvda"]


def nndsvda(objective: Objective, n_columns: int, rng: np.random.RandomState | None = None) -> np.ndarray:
    """Return `nndsvd` with √(m/k) in place of zeros, m the mean of A, so that every solver can move them.

    A product of such entries has the mean of A. The mean itself, as the authors have it, is on the scale of A
    and not of its factors: where A is large, little else would be left of the start.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.initialization import nndsvda
    >>> from symclust.objectives import Frobenius
    >>> from symclust.operators import as_operator
    >>> blocks = np.kron(np.diag([2.0, 1.0]), np.ones((2, 2)))
    >>> round(float(nndsvda(Frobenius(as_operator(blocks)), 2).min()), 3)  # √(0.75 / 2)
    0.612
    """
    H = nndsvd(objective, n_columns, rng)
    H[H == 0] = entry_level(objective, n_columns)
    return H
