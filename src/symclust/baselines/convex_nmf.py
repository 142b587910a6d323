"""Kernel convex NMF: its updates, on a similarity as the difference of two that are not negative."""

from __future__ import annotations

import time

import numpy as np

from symclust._types import Array
from symclust.exceptions import CombinationError
from symclust.operators import Dense, Operator, Sparse

__all__ = ["ConvexDescent", "SignedParts"]

FLOOR = 0.2  # added to the indicators that the descent starts from, as Ding, Li and Jordan do


class SignedParts:
    """K + σI = K⁺ − K⁻, seen through products.

    Parameters
    ----------
    operator : Operator
        K; with negative entries it must be a dense or sparse matrix.
    shift : float
        σ.
    """

    def __init__(self, operator: Operator, shift: float = 0.0) -> None:
        self.plus, self.minus = _parts(operator)
        self.dtype = operator.dtype
        self.shift = operator.dtype.type(shift)
        self.trace = float(operator.diagonal().sum(dtype=np.float64)) + shift * operator.n

    def products(self, H: Array) -> tuple[Array, Array]:
        """Return (K⁺H, K⁻H)."""
        plus = self.plus @ H
        plus += self.shift * H
        return plus, np.zeros_like(H) if self.minus is None else self.minus @ H


def _parts(operator: Operator) -> tuple[Operator, Operator | None]:
    if operator.is_nonnegative():
        return operator, None
    if isinstance(operator, Dense):
        return Dense(np.maximum(operator.array, 0)), Dense(np.maximum(-operator.array, 0))
    if isinstance(operator, Sparse):
        parts = operator.csr.maximum(0), (-operator.csr).maximum(0)
        return Sparse(parts[0]), Sparse(parts[1])
    raise CombinationError(
        f"Negative similarities can be told from others in matrices only, not in {operator!r}: pass a dense "
        "or sparse matrix, or similarities that are not negative."
    )


class ConvexDescent:
    """The updates of Ding, Li and Jordan (2010), (27) and (28) for kernels.

    Parameters
    ----------
    parts : SignedParts
        K.
    labels : ndarray of shape (n,)
        The clusters that the descent starts from.
    k : int
        Number of clusters.

    Attributes
    ----------
    G, W : ndarray of shape (n, k)
        The factors.
    objectives, clock : list of float
        The objective after each update of G, and when it was known.
    """

    def __init__(self, parts: SignedParts, labels: Array, k: int) -> None:
        self.parts = parts
        H = np.eye(k, dtype=parts.dtype)[labels]
        self.G = H + parts.dtype.type(FLOOR)
        self.W = self.G / np.maximum(H.sum(axis=0), 1)
        self.objectives: list[float] = []
        self.clock: list[float] = []

    def run(self, tol: float, max_iter: int) -> bool:
        """Update until ten iterations lower the objective by less than 10 tol tr K; return whether so."""
        trace = abs(self.parts.trace)
        for iteration in range(max_iter):
            self._step()
            if iteration >= 10 and self.objectives[-11] - self.objectives[-1] <= 10 * tol * trace:
                return True
        return False

    def objective(self) -> float:
        """Return the objective of W and G, for a product with K."""
        plus, minus = self.parts.products(self.W)
        return self._value(self.W, plus - minus, self.G.T @ self.G)

    def _value(self, W: Array, KW: Array, gram: Array) -> float:
        return self.parts.trace - 2 * float(np.sum(self.G * KW)) + float(np.sum((W.T @ KW) * gram))

    def _step(self) -> None:
        (plus, minus), W = self.parts.products(self.W), self.W
        attraction = plus + self.G @ (W.T @ minus)
        repulsion = minus + self.G @ (W.T @ plus)
        self.G = _scaled(self.G, attraction, repulsion)
        gram = self.G.T @ self.G
        of_G = self.parts.products(self.G)
        self.W = _scaled(W, of_G[0] + minus @ gram, of_G[1] + plus @ gram)
        self.objectives.append(self._value(W, plus - minus, gram))  # of the new G and the old W
        self.clock.append(time.perf_counter())


def _scaled(factor: Array, attraction: Array, repulsion: Array) -> Array:
    ratio = np.divide(attraction, repulsion, out=np.ones_like(factor), where=repulsion > 0)
    return factor * np.sqrt(np.maximum(ratio, 0))
