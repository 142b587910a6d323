"""Eigenpairs of an operator through its products, the same on every run."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from scipy.sparse.linalg import ArpackNoConvergence

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.exceptions import InputError, NotConvergedWarning, OptionError, warn

if TYPE_CHECKING:
    from symclust.operators._base import Operator

Product = Callable[[Array], Array]
# Up to here a dense eigenproblem takes no longer than Lanczos, whatever the form of A, and has no difficult
# cases.
SMALL = 800
# A dense A of 3,000 rows takes 2.5 times as long as Lanczos, and is solved all the same: how long Lanczos
# takes depends on gaps between eigenvalues. Other forms are written out if Lanczos does not end: 72 MB.
LARGE = 3000
RESTARTS = 300  # of Lanczos, a few thousand products; eigenvalues that are as close as that may take millions
ITERATIONS = 500  # of the block method that goes on from there
SPARE = 5  # columns of its block beyond those asked for: the gap behind them decides how fast it is
RANGE_SPARE = 10  # columns of a random range beyond those asked for: the last are then as good as the first
# ARPACK draws new vectors when the Krylov space closes (low rank): newer SciPy needs a generator for that.
_REPEATABLE = {"rng": 0} if "rng" in inspect.signature(scipy.sparse.linalg.eigsh).parameters else {}


def eigenpairs(operator: Operator, k: int, which: str, tol: float) -> tuple[Array, Array]:
    """The k eigenvalues, in descending order, and their eigenvectors as columns."""
    _check(operator, k, which)
    with single_threaded_blas():
        values, vectors = _solve(operator, k, which, tol)
    order = np.argsort(-values, kind="stable")
    return values[order], np.ascontiguousarray(vectors[:, order])


def _check(operator: Operator, k: int, which: str) -> None:
    n = operator.n
    if which not in ("LA", "SA", "LM"):
        raise OptionError(f"which={which!r} is not known. Choose one of 'LA', 'SA', 'LM'.")
    if not 1 <= k <= n:
        raise InputError(
            f"An operator of shape {operator.shape} has between 1 and {n} eigenvalues; got k={k}."
        )
    if k == n and n > SMALL and not operator.is_dense:
        raise InputError(
            f"All {n} eigenvalues of {operator!r} would need a dense array of {n} x {n} numbers. "
            f"Ask for fewer than {n}, or pass a dense matrix."
        )


def _solve(operator: Operator, k: int, which: str, tol: float) -> tuple[Array, Array]:
    n = operator.n
    if n <= SMALL or k == n or (operator.is_dense and n <= LARGE):
        return _dense(operator, k, which)
    try:
        return _lanczos(operator, k, which, tol)
    except ArpackNoConvergence as failure:
        if n <= LARGE:
            return _dense(operator, k, which)
        return _as_near_as_possible(operator, k, which, tol, failure.eigenvectors)


def _goodness(values: Array, which: str) -> Array:
    """Numbers that are larger the more an eigenvalue is wanted."""
    return {"LA": values, "SA": -values, "LM": np.abs(values)}[which]


def _best(found: list[tuple[Array, Array]], k: int, which: str, dtype: Any) -> tuple[Array, Array]:
    """The k eigenpairs that are wanted most."""
    values, vectors = np.concatenate([pairs[0] for pairs in found]), np.hstack([pairs[1] for pairs in found])
    chosen = np.argsort(-_goodness(values, which), kind="stable")[:k]
    return values[chosen].astype(dtype), vectors[:, chosen].astype(dtype)


def _dense(operator: Operator, k: int, which: str) -> tuple[Array, Array]:
    """The k eigenpairs by LAPACK, in double precision: in single precision it fails for tight clusters."""
    A, n = operator.toarray().astype(np.float64, copy=False), operator.n
    ends = {"LA": [(n - k, n - 1)], "SA": [(0, k - 1)], "LM": [(0, k - 1), (n - k, n - 1)]}[which]
    if which == "LM" and 2 * k > n:
        ends = [(0, n - 1)]
    found = [scipy.linalg.eigh(A, subset_by_index=end) for end in ends]
    return _best(found, k, which, operator.dtype)


# Lanczos ----------------------------------------------------------------------------------------------------


def _start(operator: Operator, seed: int) -> Array:
    start = np.random.default_rng(seed).uniform(-1, 1, operator.n)
    return (start / np.linalg.norm(start)).astype(operator.dtype)


def _arpack(
    product: Product, start: Array, k: int, which: str, tol: float, size: float
) -> tuple[Array, Array]:
    # ARPACK's tolerance is relative to the eigenvalue, which may be zero. Shifted by the size of A, it is
    # relative to that; the Krylov space, and so the cost of a step, stay the same.
    shift = start.dtype.type({"LA": size, "SA": -size, "LM": 0}[which])
    shape = (start.size, start.size)
    A = scipy.sparse.linalg.LinearOperator(shape, matvec=lambda x: product(x) + shift * x, dtype=start.dtype)
    values, vectors = scipy.sparse.linalg.eigsh(
        A, k, which=which, v0=start, tol=tol, maxiter=RESTARTS, **_REPEATABLE
    )
    return values - shift, vectors


def _lanczos(operator: Operator, k: int, which: str, tol: float) -> tuple[Array, Array]:
    """The k eigenpairs by ARPACK, which is run again for those that it may have missed.

    One starting vector sees one direction of a repeated eigenvalue; only rounding shows it the others. A
    graph of five components, normalised, has five times the eigenvalue 1: ARPACK alone misses one of them in
    about every fourth such graph.
    """
    start = _start(operator, 0)
    size = float(np.linalg.norm(operator @ start))
    if size == 0:
        # A = 0, which ARPACK refuses: every vector will do.
        return np.zeros(k, dtype=operator.dtype), np.eye(operator.n, k, dtype=operator.dtype)
    values, vectors = _arpack(operator.__matmul__, start, k, which, tol, size)
    for _ in range(k):
        try:
            missed = _missed(operator, values, vectors, which, tol)
        except ArpackNoConvergence as failure:
            failure.eigenvectors = vectors  # what there is, for the method that goes on
            raise
        if missed is None:
            break
        worst = int(np.argmin(_goodness(values, which)))
        values[worst], vectors[:, worst] = missed
    return values, vectors


def _missed(
    operator: Operator, values: Array, vectors: Array, which: str, tol: float
) -> tuple[Any, Array] | None:
    """An eigenpair orthogonal to those found and better than one of them, if there is one.

    A rough eigenvalue, a few dozen products with a single vector, shows whether there is one.
    """
    start = _start(operator, 1)
    start -= vectors @ (vectors.T @ start)
    start /= np.linalg.norm(start)
    outside = float(np.linalg.norm(operator @ start))
    size = max(outside, float(np.abs(values).max()))
    allowed = size * max(tol, float(np.sqrt(np.finfo(operator.dtype).eps)))
    worst = float(_goodness(values, which).min())
    if outside <= allowed:
        # Only zero eigenvalues are left, and the start is as good a vector as any.
        return (0, start) if worst + allowed < 0 else None
    product = _deflated(operator, vectors, {"LA": worst - size, "SA": size - worst, "LM": 0}[which])
    value, vector = _arpack(product, start, 1, which, 1e-3, size)
    if _goodness(value, which)[0] <= worst + allowed:
        return None
    value, vector = _arpack(product, vector[:, 0], 1, which, tol, size)
    return value[0], vector[:, 0]


def _deflated(operator: Operator, V: Array, elsewhere: float) -> Product:
    """The product with (I − VVᵀ) A (I − VVᵀ) + elsewhere VVᵀ."""
    elsewhere = operator.dtype.type(elsewhere)

    def product(x: Array) -> Array:
        inside = V @ (V.T @ x)
        y = operator @ (x - inside)
        return y - V @ (V.T @ y) + elsewhere * inside

    return product


def _as_near_as_possible(
    operator: Operator, k: int, which: str, tol: float, known: Array
) -> tuple[Array, Array]:
    """The k eigenpairs as near as a block method comes, from those that Lanczos has found.

    Where more than k eigenvalues are nearly the same, any vectors of their space have small residuals: blocks
    reach such a space in few iterations, though no single vector settles.
    """
    ends = {"LA": [True], "SA": [False], "LM": [True, False]}[which]
    allowed = max(tol, float(np.sqrt(np.finfo(operator.dtype).eps)))
    size = float(np.linalg.norm(operator @ _start(operator, 0))) or 1.0
    found = [_lobpcg(operator, k, largest, known, allowed * size) for largest in ends]
    values, vectors = _best(found, k, which, operator.dtype)
    residual = float(np.linalg.norm(operator @ vectors - vectors * values, axis=0).max())
    if residual > allowed * max(size, float(np.abs(values).max())):
        warn(
            f"The {k} eigenvectors of {operator!r} have not settled: its eigenvalues lie close together. "
            f"Those found have residuals ‖Av − λv‖ of up to {residual:.1e}; the largest |λ| is "
            f"{np.abs(values).max():.3g}.",
            NotConvergedWarning,
        )
    return values, vectors


def _lobpcg(operator: Operator, k: int, largest: bool, known: Array, tol: float) -> tuple[Array, Array]:
    """At least k eigenpairs at one end of the spectrum, in double precision."""
    block = np.random.default_rng(0).standard_normal((operator.n, k + SPARE))
    block[:, : known.shape[1]] = known
    product = scipy.sparse.linalg.LinearOperator(
        operator.shape, matvec=operator.__matmul__, matmat=operator.__matmul__, dtype=np.float64
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its words about accuracy; ours follow
        return scipy.sparse.linalg.lobpcg(product, block, largest=largest, tol=tol, maxiter=ITERATIONS)


def random_range(
    operator: Operator, k: int, n_passes: int, rng: np.random.RandomState
) -> tuple[Array, Array]:
    """About the k eigenpairs that are largest in size, the values in double precision.

    Halko, Martinsson and Tropp (2011), Algorithms 4.4 and 5.3: the range of AᵖΩ stands for that of A.
    """
    Q = rng.standard_normal((operator.n, min(k + RANGE_SPARE, operator.n))).astype(operator.dtype)
    with single_threaded_blas():
        for _ in range(n_passes):
            Q = np.linalg.qr(operator @ Q)[0]  # without it, all columns would tend to the first eigenvector
        B = (Q.T @ (operator @ Q)).astype(np.float64)
        if not np.isfinite(B).all():
            raise InputError(
                "The matrix contains NaN or infinity, or its products overflow: every entry has to be a "
                "number of moderate size."
            )
        values, vectors = np.linalg.eigh((B + B.T) / 2)
        kept = np.argsort(-np.abs(values), kind="stable")[:k]
        return values[kept], Q @ vectors[:, kept].astype(Q.dtype)


class Krylov(NamedTuple):
    """Orthonormal vectors V as rows, and the tridiagonal matrix VAVᵀ."""

    V: Array
    diagonal: Array
    beside: Array  # the last is the length of the part of AV that lies outside the space
    is_closed: bool  # A leads nowhere outside

    def ritz(self) -> tuple[Array, Array]:
        """The eigenvalues of the tridiagonal matrix, rising, and its eigenvectors."""
        return scipy.linalg.eigh_tridiagonal(self.diagonal, self.beside[:-1])


def krylov_spaces(operator: Operator, start: Array, steps: int) -> Iterator[Krylov]:
    """Yield the Krylov spaces of a start with 1, 2, ... vectors, which are kept orthogonal.

    Lanczos without restarts, one `matvec` a step; it ends early with a space that is closed.
    """
    V = np.empty((steps, operator.n), dtype=operator.dtype)
    V[0] = start / np.linalg.norm(start)
    diagonal, beside = np.zeros(steps), np.zeros(steps)
    for step in range(steps):
        known = V[: step + 1]
        w = operator.matvec(V[step])
        diagonal[step] = V[step] @ w
        size = float(np.linalg.norm(w))
        for _ in range(2):  # once is not enough if w is nearly in the span
            w = w - (known @ w) @ known
        beside[step] = np.linalg.norm(w)
        is_closed = bool(beside[step] <= np.sqrt(step + 1) * np.finfo(operator.dtype).eps * size)
        yield Krylov(known, diagonal[: step + 1], beside[: step + 1], is_closed)
        if is_closed or step + 1 == steps:
            return
        V[step + 1] = w / operator.dtype.type(beside[step])
