"""The leading eigenvectors as a factor, turned towards the axes."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from symclust.operators import Operator


def turned_embedding(operator: Operator, n_columns: int) -> np.ndarray:
    """Return VΛ^½Q, with VΛVᵀ the best positive semidefinite approximation of A of rank k and Q a rotation.

    The rotation makes k far-apart rows, found by a pivoted QR factorization, as close to the axes as possible
    (the polar factor of these rows).
    """
    values, vectors = operator.eigsh(n_columns)
    embedding = vectors * np.sqrt(np.maximum(values, 0))
    _, _, pivots = qr(embedding.T, mode="economic", pivoting=True)
    left, _, right = np.linalg.svd(embedding[pivots[:n_columns]])
    return (embedding @ (left @ right).T).astype(operator.dtype, copy=False)
