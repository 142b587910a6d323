"""Topics of a tree's leaves without the tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from symclust._kernels import spmm
from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.nnls import block_pivoting
from symclust.operators import dense_product, read_csr


@dataclass(frozen=True)
class FlatTopics:
    """Samples explained by all topics at once, HierNMF2-flat of the thesis.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The topic of the largest membership; −1 for a sample that no topic explains.
    membership_ : ndarray of shape (n_samples, n_topics)
        The memberships h ≥ 0 of each sample, min ‖x − Cᵀh‖² (95).
    components_ : ndarray of shape (n_topics, n_features)
        The topics C, rows of unit length.
    """

    labels_: Array
    membership_: Array
    components_: Array

    @classmethod
    def of(cls, X: Any, topics: Array) -> Self:
        """Explain the samples of X, dense or CSR, by topics of unit length."""
        membership = memberships(X, topics)
        return cls(labels_of(membership), membership, topics)


def memberships(X: Any, topics: Array) -> Array:
    """Solve (95) for all samples by one nonnegative least squares problem on the normal equations."""
    C = np.ascontiguousarray(topics.T)
    with single_threaded_blas():
        G = C.T @ C
    if sparse.issparse(X):
        csr = read_csr(X)
        R = np.empty((csr.shape[0], C.shape[1]), dtype=csr.dtype)
        spmm(csr.indptr, csr.indices, csr.data, C.astype(csr.dtype, copy=False), R)
    else:
        R = dense_product(X, C.astype(X.dtype, copy=False))
    return block_pivoting(G.astype(R.dtype, copy=False), R)


def labels_of(membership: Array) -> Array:
    """Return the largest membership's topic, −1 where there is none."""
    return np.where(membership.any(axis=1), membership.argmax(axis=1), -1)
