"""Bounds that the papers prove: how tight a coupling is enough, how many steps, how far a factor may move.

======================  ====================================================================================
`coupling_bound`        the coupling of two factors above which they end equal, constrained, corollary 1
`lipschitz_bound`       how sharply ‖M − HHᵀ‖² bends, constrained, proposition 1
`iteration_bound`       steps until a point is nearly critical, constrained, theorem 4
`perturbation_bounds`   errors of a left-stochastic factor of a disturbed similarity, leftstochastic, theorem 5
======================  ====================================================================================
"""

from __future__ import annotations

from math import ceil

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from symclust._types import Array, SimilarityLike
from symclust.exceptions import InputError
from symclust.operators import Operator, as_operator
from symclust.validation import check_number

__all__ = ["coupling_bound", "iteration_bound", "lipschitz_bound", "perturbation_bounds"]

ACCURACY = 1e-3  # of the smallest eigenvalue, relative to ‖M‖
SMALL = 64  # rows up to which all eigenvalues are computed


def coupling_bound(M: SimilarityLike, H: Array) -> float:
    """½(‖M‖ + ‖M − HHᵀ‖ − σ_n(M)), with σ_n the smallest eigenvalue.

    With a larger weight μ of ‖H − P‖² beside ‖M − HPᵀ‖², and both factors starting at H, every method that
    lowers the sum ends with H = P (Zhang and Liu, corollary 1). `SymmetricFactorization(solver="columnwise")`
    takes it for ``coupling="auto"``.

    Parameters
    ----------
    M : array-like, sparse, graph or Operator
        The symmetric matrix that is factored.
    H : ndarray of shape (n, k)
        The point where the descent begins.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.bounds import coupling_bound
    >>> round(coupling_bound(np.diag([3.0, 0.0]), np.zeros((2, 1))), 1)  # ½(3 + 3 − 0)
    3.0
    """
    operator, H = _read(M, H)
    squared_norm = operator.squared_norm()
    return float(np.sqrt(squared_norm) + np.sqrt(_misfit(operator, H)) - smallest_eigenvalue(operator)) / 2


def lipschitz_bound(M: SimilarityLike, H: Array) -> float:
    """L = 4 σ_max(HHᵀ − M) + 8 σ_max(HᵀH): the steps of constrained Algorithm 2 have the length 1/(2L).

    Parameters
    ----------
    M, H
        As in `coupling_bound`.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.bounds import lipschitz_bound
    >>> lipschitz_bound(np.diag([3.0, 0.0]), np.array([[1.0], [0.0]]))  # 4 · 2 + 8 · 1
    16.0
    """
    operator, H = _read(M, H)
    n = operator.n
    if n <= SMALL:
        sigma = np.linalg.norm(H @ H.T - operator.toarray(), 2)
    else:
        residual = LinearOperator((n, n), lambda v: H @ (H.T @ v) - operator @ v, dtype=H.dtype)
        v0 = np.random.default_rng(0).standard_normal(n).astype(H.dtype)
        sigma = abs(eigsh(residual, 1, which="LM", v0=v0, return_eigenvectors=False)[0])
    return float(4 * sigma + 8 * np.linalg.norm(H, 2) ** 2)


def iteration_bound(M: SimilarityLike, H: Array, epsilon: float) -> int:
    """Number of steps after which one of the points has ‖∇f + ∂C‖² ≤ ε: 18 L f(H) / ε, rounded up.

    For ‖M − HHᵀ‖² by steps of length 1/(2L) from H on, onto any set (Zhang and Liu, theorem 4 and its proof).
    L is that of the first point; the theorem needs the largest one on the way.

    Parameters
    ----------
    M, H
        As in `coupling_bound`.
    epsilon : float
        The squared distance from a critical point.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.bounds import iteration_bound
    >>> iteration_bound(np.diag([3.0, 0.0]), np.array([[1.0], [0.0]]), epsilon=1.0)  # 18 · 16 · (3 − 1)²
    1152
    """
    check_number("epsilon", epsilon, least=0, exclusive=True)
    operator, H = _read(M, H)
    return ceil(18 * lipschitz_bound(operator, H) * _misfit(operator, H) / epsilon)


def perturbation_bounds(
    K: SimilarityLike, n_clusters: int, epsilon: float, constant: float = 1.0
) -> tuple[float, float]:
    """How far a left-stochastic factor of K may be from that of K without an error W, ‖W‖ ≤ ε.

    The first bound is 2ε for the distance of the products. The second is that of the factors, up to a
    rotation, (11): ε(1 + C₁ (√tr(K) + ε) √k / λ_k), if ε is small beside λ_k.

    Parameters
    ----------
    K : array-like, sparse, graph or Operator
        The disturbed similarity.
    n_clusters : int
        k; λ_k is the k-th largest eigenvalue of K.
    epsilon : float
        Bound of ‖W‖.
    constant : float, default=1.0
        C₁, which the theorem does not tell.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.bounds import perturbation_bounds
    >>> perturbation_bounds(np.kron(np.eye(2), np.ones((2, 2))), 2, epsilon=0.5)  # λ₂ = 2, tr(K) = 4
    (1.0, 1.3838834764831844)
    """
    check_number("epsilon", epsilon, least=0)
    operator = as_operator(K)
    least = float(operator.eigsh(n_clusters)[0][-1])
    if least <= 0:
        raise InputError(f"K has fewer than {n_clusters} positive eigenvalues: the {n_clusters}th is {least:.3g}.")
    size = np.sqrt(max(float(np.sum(operator.diagonal())), 0.0)) + epsilon
    return 2.0 * epsilon, float(epsilon * (1 + constant * size * np.sqrt(n_clusters) / least))


def smallest_eigenvalue(operator: Operator) -> float:
    """A number just below σ_n(M): Lanczos comes from above, by no more than its accuracy."""
    values, _ = operator.eigsh(1, "SA", tol=ACCURACY)
    size, _ = operator.eigsh(1, "LM", tol=ACCURACY)
    return float(values[0]) - ACCURACY * abs(float(size[0]))


def _read(M: SimilarityLike, H: Array) -> tuple[Operator, Array]:
    operator, H = as_operator(M), np.asarray(H)
    if H.ndim != 2 or len(H) != operator.n:
        raise InputError(f"H has shape {H.shape}; expected ({operator.n}, k), a row for each row of M.")
    return operator, H


def _misfit(operator: Operator, H: Array) -> float:
    """‖M − HHᵀ‖²."""
    fit, G = float(np.sum(H * (operator @ H))), H.T @ H
    return max(operator.squared_norm() - 2 * fit + float(np.sum(G * G)), 0.0)
