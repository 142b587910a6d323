"""Similarities as methods for similarities and networks take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symclust.exceptions import CombinationError, InputError
from symclust.selection._data import Data, Pairs


def pairs_of(data: Data, method: str) -> Any:
    """Return similarities with zeros on the diagonal, for a method: those of the network if there is one."""
    if not isinstance(data, Pairs):
        raise CombinationError(
            f"method={method!r} looks at similarities of samples, and this estimator clusters them by their "
            "features. Choose an estimator on similarities, such as SymNMF, or another method."
        )
    return without_diagonal((data.source if isinstance(data.source, Pairs) else data).matrix)


def without_diagonal(A: Any, first: int = 0) -> Any:
    """Return A, or its rows from `first` on, with zeros on the diagonal; refuse negative entries."""
    if sparse.issparse(A):
        A = sparse.csr_array(A, dtype=np.float64, copy=True)
        rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        A.data[rows == A.indices] = 0
        A.eliminate_zeros()
    else:
        A = np.array(A, dtype=np.float64)
        np.fill_diagonal(A[:, first:], 0)
    lowest = (A.data if sparse.issparse(A) else A).min(initial=0)
    if lowest < 0:
        raise InputError(
            f"The similarities have negative entries, down to {lowest:.3g}; this method needs "
            "nonnegative ones. Choose a method that only clusters, such as 'consensus'."
        )
    return A
