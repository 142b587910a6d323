"""The nonnegative double singular value decomposition with small random numbers for its zeros."""

from __future__ import annotations

import numpy as np

from symclust.initialization._level import entry_level
from symclust.initialization.nndsvd import nndsvd
from symclust.objectives import Objective

__all__ = ["nndsvdar"]

SHARE = 0.01  # of the entries that would give the mean of A


def nndsvdar(objective: Objective, n_columns: int, rng: np.random.RandomState) -> np.ndarray:
    """Return `nndsvd` with random numbers in place of zeros, uniform up to a hundredth of those of `nndsvda`.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.initialization import nndsvdar
    >>> from symclust.objectives import Frobenius
    >>> from symclust.operators import as_operator
    >>> blocks = np.kron(np.diag([2.0, 1.0]), np.ones((2, 2)))
    >>> H = nndsvdar(Frobenius(as_operator(blocks)), 2, np.random.RandomState(0))
    >>> bool(0 < H.min() < 0.01)
    True
    """
    H = nndsvd(objective, n_columns, rng)
    zero = H == 0
    H[zero] = SHARE * entry_level(objective, n_columns) * rng.random_sample(np.count_nonzero(zero))
    return H
