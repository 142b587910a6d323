"""diag(d) A diag(d) for an A that cannot take the scaling in."""

from __future__ import annotations

from typing import Any

from symclust._types import Array
from symclust.operators._base import Operator

__all__ = ["Scaled"]


class Scaled(Operator):
    """The operator diag(d) A diag(d): two scalings of an n x w array around each product."""

    def __init__(self, operator: Operator, d: Array) -> None:
        super().__init__(operator.n, operator.dtype)
        self._operator = operator
        self._d = d
        self._rows_are_thread_safe = operator._rows_are_thread_safe

    def _product(self, H: Array) -> Array:
        out = self._operator._product(self._d[:, None] * H)
        out *= self._d[:, None]
        return out

    def _rows(self, index: Any) -> Array:
        return self._d[index][:, None] * self._operator._rows(index) * self._d

    def diagonal(self) -> Array:
        """Return the n diagonal entries."""
        return self._d**2 * self._operator.diagonal()
