"""A = U diag(s) Uᵀ with few columns in U."""

from __future__ import annotations

from typing import Any

import numpy as np

from symclust.exceptions import InputTypeError
from symclust.operators._arrays import read_dense
from symclust.operators._factor_dense import DenseFactor
from symclust.operators._factored import Factored

__all__ = ["LowRank"]


class LowRank(Factored):
    """A = U diag(s) Uᵀ: a truncated eigendecomposition, or any signed sum of outer products.

    Parameters
    ----------
    U : array of shape (n, r)
        Columns need not be orthogonal.
    s : array of shape (r,), optional
        Weights of the columns, of any sign; ones by default.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import LowRank
    >>> A = LowRank(np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([2.0, -1.0]))
    >>> A.toarray().tolist()
    [[1.0, 3.0], [3.0, 1.0]]
    """

    def __init__(self, U: Any, s: Any = None) -> None:
        if not isinstance(U, np.ndarray):
            raise InputTypeError(
                f"U must be a NumPy array, got {type(U).__name__}; for sparse factors use Gram."
            )
        super().__init__(DenseFactor(read_dense(U)), weights=s)
