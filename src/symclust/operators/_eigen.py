"""Eigenpairs of an operator through its products, the same on every run."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from symclust._threads import single_threaded_blas
from symclust.exceptions import InputError, OptionError
from symclust.operators._arrays import Array

if TYPE_CHECKING:
    from symclust.operators._base import Operator

__all__ = ["eigenpairs"]

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


def _dense(operator: Operator, k: int, which: str) -> tuple[Array, Array]:
    values, vectors = scipy.linalg.eigh(operator.toarray())
    keys = {"LA": -values, "SA": values, "LM": -np.abs(values)}
    chosen = np.argsort(keys[which], kind="stable")[:k]
    return values[chosen], vectors[:, chosen]


def _lanczos(operator: Operator, k: int, which: str, tol: float) -> tuple[Array, Array]:
    start = np.random.default_rng(0).uniform(-1, 1, operator.n).astype(operator.dtype)
    if not (operator @ start).any():
        # A = 0, which ARPACK refuses: every vector will do.
        return np.zeros(k, dtype=operator.dtype), np.eye(operator.n, k, dtype=operator.dtype)
    A = scipy.sparse.linalg.LinearOperator(operator.shape, matvec=operator.__matmul__, dtype=operator.dtype)
    return scipy.sparse.linalg.eigsh(A, k, which=which, v0=start, tol=tol, **_REPEATABLE)
