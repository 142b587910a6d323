"""A factor H with few nonzeros, held as a `csr_array`, for the squared distances and row descent.

A row of H has entries only in columns in which one of its neighbours' rows has some, so with many clusters
nearly all of H is zero. Nothing here has n × k entries; HᵀH has k².
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeGuard

import numpy as np
from scipy import sparse

from symclust import _kernels
from symclust._types import Array, Matrix


def is_sparse_factor(H: Any) -> TypeGuard[sparse.csr_array]:
    """Whether H is held by its nonzeros."""
    return sparse.issparse(H)


def factor_arrays(H: sparse.csr_array) -> tuple[Array, Array, Array]:
    """Rows, columns and entries of H for the kernels, without a copy if that can be."""
    return H.indptr.astype(np.int64, copy=False), H.indices.astype(np.int32, copy=False), H.data


def gram(H: Matrix) -> Array:
    """HᵀH in double precision, however H is held.

    Parameters
    ----------
    H : ndarray, csr_array or DeviceArray of shape (n, k)

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from symclust.objectives import gram
    >>> H = np.array([[1.0, 0.0], [2.0, 1.0]])
    >>> gram(H).tolist(), gram(csr_array(H)).tolist()
    ([[5.0, 2.0], [2.0, 1.0]], [[5.0, 2.0], [2.0, 1.0]])
    """
    if not is_sparse_factor(H):
        return _kernels.gram(H)[0]
    G = np.empty((H.shape[1], H.shape[1]))
    _kernels.sparse_factor_gram(*factor_arrays(H), G)
    return G


def row_lengths(H: Any) -> Array:
    """‖h_i‖² of every row in double precision, however H is held."""
    if not is_sparse_factor(H):
        return np.einsum("il,il->i", H, H, dtype=np.float64)
    rows = np.repeat(np.arange(H.shape[0]), np.diff(H.indptr))
    lengths = np.bincount(rows, weights=np.square(H.data, dtype=np.float64), minlength=H.shape[0])
    return lengths.astype(np.float64, copy=False)  # without nonzeros, bincount returns integers


class SparseMeasures(NamedTuple):
    """Measures of a point that one pass over A gives, in double precision."""

    fit: float  # ⟨H, AH⟩
    squared_gradient: float  # ‖∇ᴾf(H)‖² over H ≥ 0: zero outside the nonzeros of H and of AH
    squared_product: float  # ‖AH‖²
    lowest: float  # entry of the gradient among those with H = 0, or zero
    complementarity: float  # the largest |h ∇f| of an entry
