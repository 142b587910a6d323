"""How much of a similarity lies in its negative eigenvalues."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.operators import Operator

EXACT = 512  # rows up to which all eigenvalues are computed
STEPS = 6  # of Lanczos, each a product with one vector: a tenth of what the leading eigenvectors take


def negative_part(operator: Operator) -> tuple[float, float]:
    """Return the lowest eigenvalue and the share of ‖K‖² that negative eigenvalues make up.

    Exact up to 512 rows. Beyond, a few steps of Lanczos from a random vector give Ritz values θ with
    weights w; Σ w θ² over the negative ones estimates the share (stochastic Lanczos quadrature), and the
    lowest Ritz value is an upper bound of the lowest eigenvalue. Both are zero if nothing negative was found.
    """
    values, weights = _spectrum(operator)
    squares = weights * values**2
    largest, total = float(np.abs(values).max()), float(squares.sum())
    negative = values < -np.sqrt(np.finfo(operator.dtype).eps) * largest
    if not negative.any() or total == 0:
        return 0.0, 0.0
    return float(values.min()), float(squares[negative].sum()) / total


def _spectrum(operator: Operator) -> tuple[Array, Array]:
    if operator.n <= EXACT:
        with single_threaded_blas():
            values = scipy.linalg.eigvalsh(operator.toarray())
        return values, np.ones(len(values))
    diagonal, beside = _lanczos(operator)
    values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, beside)
    return values, vectors[0] ** 2


def _lanczos(operator: Operator) -> tuple[Array, Array]:
    """Return the tridiagonal matrix of a few steps, with the vectors kept orthogonal."""
    start = np.random.default_rng(0).standard_normal(operator.n)
    vectors = [(start / np.linalg.norm(start)).astype(operator.dtype)]
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(STEPS):
        following = operator.matvec(vectors[-1])
        with single_threaded_blas():
            size = float(np.linalg.norm(following))
            diagonal.append(float(vectors[-1] @ following))
            for vector in vectors:
                following = following - (vector @ following) * vector
            length = float(np.linalg.norm(following))
        if length <= np.sqrt(np.finfo(operator.dtype).eps) * max(size, np.finfo(operator.dtype).tiny):
            break
        beside.append(length)
        vectors.append(following / operator.dtype.type(length))
    return np.array(diagonal), np.array(beside[: len(diagonal) - 1])
