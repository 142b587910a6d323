"""Eigenpairs of an operator through its products, the same on every run."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.exceptions import InputError, OptionError

if TYPE_CHECKING:
    from symclust.operators._base import Operator

__all__ = ["eigenpairs"]

Product = Callable[[Array], Array]
TINY = 64  # up to here a dense eigenproblem is faster than Lanczos, and has no difficult cases
# ARPACK draws new vectors when the Krylov space closes (low rank): newer SciPy must be told from where.
_REPEATABLE = {"rng": 0} if "rng" in inspect.signature(scipy.sparse.linalg.eigsh).parameters else {}


def eigenpairs(operator: Operator, k: int, which: str, tol: float) -> tuple[Array, Array]:
    """Return k eigenvalues, in descending order, and their eigenvectors as columns."""
    _check(operator, k, which)
    with single_threaded_blas():
        if operator.n <= TINY or k == operator.n:
            values, vectors = _dense(operator, k, which)
        else:
            values, vectors = _lanczos(operator, k, which, tol)
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
    if k == n and n > TINY and not operator.is_dense:
        raise InputError(
            f"All {n} eigenvalues of {operator!r} would need a dense array of {n} x {n} numbers. "
            f"Ask for fewer than {n}, or pass a dense matrix."
        )


def _goodness(values: Array, which: str) -> Array:
    """Return numbers that are larger the more an eigenvalue is wanted."""
    return {"LA": values, "SA": -values, "LM": np.abs(values)}[which]


def _dense(operator: Operator, k: int, which: str) -> tuple[Array, Array]:
    values, vectors = scipy.linalg.eigh(operator.toarray())
    chosen = np.argsort(-_goodness(values, which), kind="stable")[:k]
    return values[chosen], vectors[:, chosen]


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
    values, vectors = scipy.sparse.linalg.eigsh(A, k, which=which, v0=start, tol=tol, **_REPEATABLE)
    return values - shift, vectors


def _lanczos(operator: Operator, k: int, which: str, tol: float) -> tuple[Array, Array]:
    """Return k eigenpairs by ARPACK, and look for those that it did not see.

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
        missed = _missed(operator, values, vectors, which, tol)
        if missed is None:
            break
        worst = int(np.argmin(_goodness(values, which)))
        values[worst], vectors[:, worst] = missed
    return values, vectors


def _missed(
    operator: Operator, values: Array, vectors: Array, which: str, tol: float
) -> tuple[Any, Array] | None:
    """Return an eigenpair orthogonal to those found and better than one of them, if there is one.

    Whether there is one, a rough eigenvalue tells, for a few dozen products with a single vector.
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
    """Return the product with (I − VVᵀ) A (I − VVᵀ) + elsewhere VVᵀ."""
    elsewhere = operator.dtype.type(elsewhere)

    def product(x: Array) -> Array:
        inside = V @ (V.T @ x)
        y = operator @ (x - inside)
        return y - V @ (V.T @ y) + elsewhere * inside

    return product
