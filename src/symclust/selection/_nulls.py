"""Data like given data, but without clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse

from symclust._threads import single_threaded_blas
from symclust._types import Array


class UniformBox:
    """Samples drawn uniformly from the box around the principal components of X (Algorithm 3).

    A feature that would become negative, though no entry of X is, is shifted as far as needed: each feature
    by itself. The components are computed once, by a singular value decomposition of X less its mean.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.selection._nulls import UniformBox
    >>> X = np.random.RandomState(0).uniform(size=(50, 3))
    >>> Z = UniformBox(X).draw(np.random.RandomState(1))
    >>> Z.shape, bool(Z.min() >= 0)
    ((50, 3), True)
    """

    def __init__(self, X: Array) -> None:
        self.mean, self.n, self.is_nonnegative = X.mean(axis=0), len(X), bool(X.min() >= 0)
        with single_threaded_blas():
            U, s, self.axes = linalg.svd(X - self.mean, full_matrices=False, check_finite=False)
        components = U * s
        self.low, self.high = components.min(axis=0), components.max(axis=0)

    def draw(self, rng: np.random.RandomState) -> Array:
        """Return as many samples as X has."""
        components = rng.uniform(self.low, self.high, size=(self.n, len(self.low)))
        with single_threaded_blas():
            Z = components.astype(self.axes.dtype, copy=False) @ self.axes
        Z += self.mean
        if self.is_nonnegative:
            Z -= np.minimum(Z.min(axis=0), 0)
        return Z


def shuffled_entries(X: sparse.csr_array, rng: np.random.RandomState) -> sparse.csr_array:
    """Return a sparse matrix whose rows have the numbers of entries of X, and whose columns nearly so.

    The entries, each with its column and value, go to the places of others at random: words keep their
    frequency and weight, documents their length, and nothing else. An entry that meets its column in a row
    again is added to it.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from symclust.selection._nulls import shuffled_entries
    >>> X = sparse.csr_array(np.kron(np.eye(2), np.ones((2, 3))))
    >>> shuffled_entries(X, np.random.RandomState(0)).sum() == X.sum()
    np.True_
    """
    order = rng.permutation(X.nnz)
    Z = sparse.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape, copy=True)
    Z.sum_duplicates()
    return Z


def shuffled_pairs(A: Any, rng: np.random.RandomState) -> Any:
    """Return similarities in which every sample keeps its degree and nothing else."""
    raise NotImplementedError
