"""Leading eigenvectors, turned to be as nonnegative as possible."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from symclust._types import Array
from symclust.objectives import Objective
from symclust.operators import Operator

__all__ = ["spectral"]

FLOOR = 1e-3  # smallest entry relative to the mean: zeros would be fixed points of multiplicative updates


def spectral(objective: Objective, n_columns: int, rng: np.random.RandomState | None = None) -> Array:
    """Return H = [V Λ^½ Q]⁺, with VΛVᵀ the best approximation of A of rank k and Q a rotation.

    The rotation makes k far-apart rows, found by a pivoted QR factorization, as close to the axes as possible
    (the polar factor of these rows); a graph with k separate clusters then starts at its solution.
    Deterministic: `rng` is not used.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.starts import spectral
    >>> from symclust.objectives import Frobenius
    >>> from symclust.operators import as_operator
    >>> blocks = np.kron(np.eye(2), np.ones((3, 3)))
    >>> H = spectral(Frobenius(as_operator(blocks)), 2)
    >>> bool(np.abs(H @ H.T - blocks).max() < 0.01)
    True
    """
    H = turned_embedding(objective.operator, n_columns)
    floor = FLOOR * np.abs(H).mean()
    return np.maximum(H, floor).astype(objective.operator.dtype)


def turned_embedding(operator: Operator, n_columns: int) -> Array:
    """Return VΛ^½Q, with VΛVᵀ the best positive semidefinite approximation of A of rank k and Q a rotation.

    The rotation makes k far-apart rows, found by a pivoted QR factorization, as close to the axes as possible
    (the polar factor of these rows).
    """
    values, vectors = operator.eigsh(n_columns)
    embedding = vectors * np.sqrt(np.maximum(values, 0))
    _, _, pivots = qr(embedding.T, mode="economic", pivoting=True)
    left, _, right = np.linalg.svd(embedding[pivots[:n_columns]])
    return (embedding @ (left @ right).T).astype(operator.dtype, copy=False)
