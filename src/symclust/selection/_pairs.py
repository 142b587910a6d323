"""Shared by methods for similarities and networks: the pairs, nulls of them, the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from symclust._types import Array
from symclust.exceptions import CombinationError, InputError
from symclust.selection._data import Data, Features, Pairs
from symclust.selection._nulls import shuffled_pairs


def pairs_of(data: Data, method: str) -> Any:
    """Return similarities with zeros on the diagonal, for a method: those of the network if there is one."""
    if not isinstance(data, Pairs):
        raise CombinationError(
            f"method={method!r} looks at similarities of samples, and this estimator clusters them by their "
            "features. Choose an estimator on similarities, such as SymNMF, or another method."
        )
    return without_diagonal((data.source if isinstance(data.source, Pairs) else data).matrix)


def without_diagonal(A: Any) -> Any:
    """Return A with zeros on its diagonal; refuse negative entries."""
    if sparse.issparse(A):
        A = sparse.csr_array(A, dtype=np.float64, copy=True)
        rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        A.data[rows == A.indices] = 0
        A.eliminate_zeros()
    else:
        A = np.array(A, dtype=np.float64)
        np.fill_diagonal(A, 0)
    lowest = (A.data if sparse.issparse(A) else A).min(initial=0)
    if lowest < 0:
        raise InputError(
            f"The similarities have negative entries, down to {lowest:.3g}; modularity and the Bethe-Hessian "
            "need nonnegative ones. Choose a method that only clusters, such as 'consensus'."
        )
    return A


def is_made_of_features(data: Data) -> bool:
    """Whether the samples are known by features, or their similarities were made of some."""
    return isinstance(data, Features) or (isinstance(data, Pairs) and isinstance(data.source, Features))


def null_pairs(data: Data, rng: np.random.RandomState) -> Any:
    """Return similarities without clusters, like `pairs_of`; a network itself is rewired."""
    if isinstance(data, Pairs) and isinstance(data.source, Features) and data.make is not None:
        return without_diagonal(data.null(rng).matrix)
    return shuffled_pairs(pairs_of(data, ""), rng)


def nearest_candidate(count: int, candidates: Sequence[int]) -> int:
    """Return the candidate nearest to a count of clusters, the smaller one of two; 1 stays 1."""
    if count <= 1:
        return 1
    return int(min(candidates, key=lambda k: (abs(k - count), k)))


def similarity_sums(A: Any) -> Array:
    """Return the degrees."""
    return np.asarray(A.sum(axis=1)).ravel()
