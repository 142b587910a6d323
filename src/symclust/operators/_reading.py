"""From the data matrix a user gives to the factor that operators work on."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from symclust.exceptions import InputTypeError
from symclust.operators._arrays import read_csr, read_dense
from symclust.operators._factor import Factor
from symclust.operators._factor_dense import DenseFactor
from symclust.operators._factor_sparse import SparseFactor

__all__ = ["read_factor"]


def read_factor(X: Any) -> Factor:
    """Return X as a factor, held as it is given: dense or sparse."""
    if sp.issparse(X):
        return SparseFactor(read_csr(X))
    if isinstance(X, np.ndarray):
        return DenseFactor(read_dense(X))
    raise InputTypeError(f"X must be a NumPy array or a SciPy sparse array, got {type(X).__name__}.")
