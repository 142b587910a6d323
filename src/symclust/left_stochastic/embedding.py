"""The samples as points in the plane of the simplex, and the part in negative eigenvalues that it loses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.exceptions import InputError
from symclust.operators import Operator, krylov_spaces

EXACT = 512  # rows up to which all eigenvalues are computed
STEPS = 6  # of Lanczos, each a product with one vector: a tenth of what the leading eigenvectors take


@dataclass(frozen=True)
class Embedding:
    """K's best approximation of rank k, moved into the plane that holds the probability simplex.

    A rotation g of the plane makes memberships of the points: 1/k + points g Bᵀ, with B `plane_basis`.
    """

    points: Array  # n × (k − 1) coordinates in the plane, from the centre of the simplex
    factor: Array  # M, the points before they were moved: MMᵀ is the best approximation of cK of rank k
    scale: float  # c* of (10)
    values: Array  # the k largest eigenvalues of K


def embed(operator: Operator, k: int) -> Embedding:
    """The first two steps of Algorithm 1: eigenvectors, scale, plane.

    Rotating the plane fitted to the points onto that of the simplex (subroutine 1) and reading off
    coordinates in it is the same as reading off coordinates in any basis of the fitted plane, up to a
    rotation within it, which is free here and found later.

    K needs k positive eigenvalues.
    """
    values, vectors = operator.eigsh(k)
    _check_positive(operator, values)
    with single_threaded_blas():
        roots = np.sqrt(values)
        normal = vectors.sum(axis=0) / roots  # m = (MMᵀ)⁻¹M1: M has orthogonal rows of squared length λ
        with np.errstate(over="ignore"):
            scale = float(normal @ normal) / k  # (10)
        _check_plane(operator, scale, float(values[0]))
        M = vectors * (np.sqrt(scale) * roots).astype(vectors.dtype)
        basis = np.linalg.qr(normal[:, None], mode="complete")[0]
        points = M @ basis[:, 1:].astype(M.dtype)  # the first column is the normal
        return Embedding(np.ascontiguousarray(points), M, scale, values)


@dataclass(frozen=True)
class ErrorParts:
    """‖K − PPᵀ/c‖² as the sum of six terms, leftstochastic (5)-(8).

    `rank`, `plane` and `simplex` are the squared errors (5) of three steps: K to rank k, its points to a
    plane, the plane to the simplex. The others are twice the inner products (6), (7) and (8) of the errors of
    two steps.
    """

    rank: float
    plane: float
    simplex: float
    rank_and_simplex: float
    rank_and_plane: float
    plane_and_simplex: float

    @property
    def total(self) -> float:
        """The objective (3)."""
        return sum(vars(self).values())


def error_parts(operator: Operator, P: Array, scale: float) -> ErrorParts:
    """The terms for the factor P, with M the leading eigenvectors and Z their points in the plane.

    K takes part through one product with 3k columns, the others through k × k matrices.
    """
    k = P.shape[1]
    found = embed(operator, k)
    centre = np.full((len(P), 1), 1 / np.sqrt(k), dtype=P.dtype)
    M, Z = found.factor / np.sqrt(found.scale), np.hstack([centre, found.points]) / np.sqrt(found.scale)
    factors = (M, Z, P / np.sqrt(scale))
    products = np.split((operator @ np.hstack(factors)).astype(np.float64), 3, axis=1)
    G = np.empty((4, 4))  # inner products of K, MMᵀ, ZZᵀ and PPᵀ/c
    G[0, 0] = operator.squared_norm()
    for i, U in enumerate(factors, 1):
        G[0, i] = G[i, 0] = np.sum(U * products[i - 1])
        for j, V in enumerate(factors, 1):
            G[i, j] = np.sum((U.T @ V).astype(np.float64) ** 2)
    steps = np.array([[1, -1, 0, 0], [0, 1, -1, 0], [0, 0, 1, -1]])
    D = steps @ G @ steps.T
    return ErrorParts(*map(float, (*D.diagonal(), 2 * D[0, 2], 2 * D[0, 1], 2 * D[1, 2])))


def _check_positive(operator: Operator, values: Array) -> None:
    floor = max(float(values[0]), 0.0) * operator.n * float(np.finfo(values.dtype).eps)
    positive = int(np.count_nonzero(values > floor))
    if positive < len(values):
        raise InputError(
            f"A left-stochastic factor with {len(values)} clusters needs a similarity with {len(values)} "
            f"positive eigenvalues; this one, with n_samples={operator.n}, has {positive} (the {len(values)} "
            f"largest end at {values[-1]:.3g}). Ask for fewer clusters, or use a similarity that compares "
            "samples more finely, for example with a value on its diagonal."
        )


def _check_plane(operator: Operator, scale: float, largest: float) -> None:
    if not np.isfinite(scale):
        raise InputError(
            f"The scale c* of this similarity, whose largest eigenvalue is {largest:.2g}, overflows in "
            f"{operator.dtype}. Multiply it by a constant, for example K / abs(K).max()."
        )
    if scale * largest <= operator.n * float(np.finfo(operator.dtype).eps):
        raise InputError(
            "The rows of this similarity add up to zero, as those of a centred kernel do: no plane away from "
            "the origin fits its samples, and no memberships that add up to one. Use the similarity before "
            "centring."
        )


def negative_part(operator: Operator) -> tuple[float, float]:
    """The lowest eigenvalue and the share of ‖K‖² that negative eigenvalues make up.

    Exact up to 512 rows. Beyond, a few steps of Lanczos from a random vector give Ritz values θ with weights
    w: Σ w θ² over the negative ones estimates the share (stochastic Lanczos quadrature), and the lowest one
    bounds the lowest eigenvalue from above. Both are zero if nothing negative was found.
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
    start = np.random.default_rng(0).standard_normal(operator.n).astype(operator.dtype)
    with single_threaded_blas():
        *_, last = krylov_spaces(operator, start, STEPS)
        values, vectors = last.ritz()
    return values, vectors[0] ** 2
