"""A similarity as the difference of two that are not negative."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.exceptions import CombinationError
from symclust.operators import Dense, Operator, Sparse


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
