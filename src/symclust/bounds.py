"""Bounds that the papers state: couplings, numbers of steps, errors, operations, and time spent on memory.

======================  ====================================================================================
`coupling_bound`        the coupling of two factors above which they end equal, constrained, corollary 1
`lipschitz_bound`       how sharply ‖M − HHᵀ‖² bends, constrained, proposition 1
`iteration_bound`       steps until a point is nearly critical, constrained, theorem 4
`perturbation_bounds`   errors of the factor of a disturbed similarity, leftstochastic, theorem 5
`flat_flops`            operations of a step of NMF with k columns, thesis (51)
`tree_flops`            the same for k − 1 splits in two, thesis (52)
`gpu_memory_seconds`    time of a sparse product on a GPU, by the cache that is used, thesis (71)-(89)
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

__all__ = [
    "coupling_bound",
    "flat_flops",
    "gpu_memory_seconds",
    "iteration_bound",
    "lipschitz_bound",
    "perturbation_bounds",
    "tree_flops",
]

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
        raise InputError(
            f"K has fewer than {n_clusters} positive eigenvalues: the {n_clusters}th is {least:.3g}."
        )
    size = np.sqrt(max(float(np.sum(operator.diagonal())), 0.0)) + epsilon
    return 2.0 * epsilon, float(epsilon * (1 + constant * size * np.sqrt(n_clusters) / least))


def flat_flops(size: tuple[int, int, int], k: int, searches: int) -> float:
    """Operations of one nonnegative least squares problem of NMF, at most: grows with k³.

    Parameters
    ----------
    size : tuple (rows, columns, nonzeros)
        m, n and N of the data matrix.
    k : int
        Number of clusters.
    searches : int
        t, the steps of the search for the active set.

    Examples
    --------
    >>> from symclust.bounds import flat_flops, tree_flops
    >>> reuters = (12_411, 7_984, 400_000)
    >>> [round(flat_flops(reuters, k, 10) / tree_flops(reuters, k, 10), 1) for k in (10, 20, 40)]
    [1.4, 2.2, 4.0]
    """
    m, n, entries = size
    return 4 * k * entries + 2 * (m + n) * k**2 + searches * (k**3 / 3 + 2 * (m + n) * k**2)  # (51)


def tree_flops(size: tuple[int, int, int], k: int, searches: int) -> float:
    """The same for the k − 1 splits of a tree with k leaves, if each were one of all samples: grows with k.

    Parameters
    ----------
    size, k, searches
        As in `flat_flops`.

    Examples
    --------
    >>> from symclust.bounds import tree_flops
    >>> tree_flops((12_411, 7_984, 400_000), 11, 10) / tree_flops((12_411, 7_984, 400_000), 2, 10)
    10.0
    """
    m, n, entries = size
    return (k - 1) * (8 * entries + 8 * (m + n) + searches * (8 / 3 + 8 * m + 8 * n))  # (52)


def gpu_memory_seconds(
    size: tuple[int, int, int],
    k: int,
    *,
    bandwidth: float = 170e9,
    matrix_bandwidth: float | None = None,
    cache: int = 48 * 1024,
    multiprocessors: int = 14,
    thread_blocks: int = 112,
) -> dict[str, float]:
    """Least time for the memory traffic of Y = A X on a GPU, by where X is kept; single precision.

    Parameters
    ----------
    size : tuple (rows, columns, nonzeros)
        m, n and Z of A.
    k : int
        Columns of X.
    bandwidth, matrix_bandwidth : float
        Bytes a second for X and Y, and for A, by default the same.
    cache : int
        Bytes of texture cache of a multiprocessor, and of shared memory of a block of threads.
    multiprocessors, thread_blocks : int
        N_SM, and O of (70): blocks that run at the same time.

    Returns
    -------
    dict
        Seconds by "global" memory (71), "texture" cache (75), "shared" memory for X (81), and for X and Y,
        "shared both" (83). The defaults are the K20x of the thesis, with 256 threads a block.

    Examples
    --------
    The thesis finds texture cache useful up to 13 columns for the documents of RCV1, shared memory up to 6:

    >>> from symclust.bounds import gpu_memory_seconds
    >>> rcv1 = (149_113, 764_751, 59_851_107)
    >>> few, many = gpu_memory_seconds(rcv1, 2), gpu_memory_seconds(rcv1, 32)
    >>> few["texture"] < few["global"], many["texture"] < many["global"]
    (True, False)
    """
    m, n, entries = size
    matrix = 2 * entries / (matrix_bandwidth or bandwidth)
    texture_blocks, blocks = ceil(2 * k * n / cache), ceil(4 * k * n / cache)  # of columns, (77) and (82)
    row_blocks = ceil(4 * k * m / cache)  # (85)
    reads_and_writes = {
        "global": (entries, m),
        "texture": (multiprocessors * n, texture_blocks * m),
        "shared": (thread_blocks * n, blocks * m),
        "shared both": (row_blocks * n, m),
    }
    return {name: 4 * (matrix + k * sum(rows) / bandwidth) for name, rows in reads_and_writes.items()}


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
