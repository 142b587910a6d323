"""Data like given data, but without clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse

from symclust._types import Array


def uniform_box(X: Any, rng: np.random.RandomState) -> Array:
    """Return samples drawn uniformly from the box around the principal components of X (Algorithm 3).

    A feature that would become negative, though no entry of X is, is shifted as far as needed: each feature
    by itself. A sparse X gives a dense result; the box of its components has no zeros.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    rng : RandomState

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.selection._nulls import uniform_box
    >>> X = np.random.RandomState(0).uniform(size=(50, 3))
    >>> Z = uniform_box(X, np.random.RandomState(1))
    >>> Z.shape, bool(Z.min() >= 0)
    ((50, 3), True)
    """
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
    mean = dense.mean(axis=0)
    # Y = (X − μ)V are the components; only V and the box of Y are needed.
    U, s, Vt = linalg.svd(dense - mean, full_matrices=False, check_finite=False)
    Y = U * s
    Z = rng.uniform(Y.min(axis=0), Y.max(axis=0), size=Y.shape).astype(dense.dtype, copy=False) @ Vt
    Z += mean
    if dense.min() >= 0:
        Z -= np.minimum(Z.min(axis=0), 0)
    return Z


def shuffled_pairs(A: Any, rng: np.random.RandomState) -> Any:
    """Return similarities in which every sample keeps its degree and nothing else."""
    raise NotImplementedError
