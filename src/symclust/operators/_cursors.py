"""Products A[rows] @ H while H is being changed: what a Gauss-Seidel sweep over row blocks asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from symclust._types import Array
from symclust.exceptions import InputError

if TYPE_CHECKING:
    from symclust.operators._base import Operator

__all__ = ["Cursor", "RowProducts", "check_followed"]


class Cursor(Protocol):
    """Follows an array H that its owner changes in place."""

    def product(self, rows: slice) -> Array:
        """Return A[rows] @ H for the H of now."""

    def update(self, rows: slice, delta: Array) -> None:
        """Hear that H[rows] has just changed by `delta`."""


def check_followed(operator: Operator, H: Array) -> Array:
    """Refuse an H that could only be followed through a copy."""
    if H.ndim != 2 or H.shape[0] != operator.n or H.dtype != operator.dtype or not H.flags.c_contiguous:
        order = "C-contiguous" if H.flags.c_contiguous else "not C-contiguous"
        raise InputError(
            f"Row products of {operator!r} follow H in place: expected a C-contiguous {operator.dtype} array "
            f"of shape ({operator.n}, w), got {H.dtype}, shape {H.shape}, {order}."
        )
    return H


class RowProducts:
    """Recomputes from H whenever it is asked, so there is nothing to keep up to date."""

    def __init__(self, operator: Operator, H: Array) -> None:
        self._operator = operator
        self._H = check_followed(operator, H)

    def product(self, rows: slice) -> Array:
        """Return A[rows] @ H for the H of now."""
        return self._operator._rows_product(rows, self._H)

    def update(self, rows: slice, delta: Array) -> None:
        """Do nothing: H itself has the change."""
