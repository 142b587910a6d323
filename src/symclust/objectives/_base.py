"""What a solver may ask of an objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np


if TYPE_CHECKING:
    from symclust.operators import Operator

Array = np.ndarray
ALL_ROWS = slice(None)


class Objective(ABC):
    """A function of one factor H that depends on A through products only.

    Everything is computed from H, the product AH and the Gram matrix G = HᵀH, which the caller has already paid for.
    With `rows`, H and AH are those rows only (G still belongs to the whole H), so that large problems can be measured
    in blocks without n × k temporaries.

    Attributes
    ----------
    offers : frozenset of str
        The optional parts this objective implements, by name; a solver lists the ones it needs.
    full_diagonal : bool
        Whether the diagonal of A counts. It decides the shape of the row problem: quartic if it does, else quadratic.
    row_offset : float
        Added to every entry of G in the row problem (an L1 term does that).
    """

    offers: ClassVar[frozenset[str]] = frozenset({"value", "gradient"})
    full_diagonal: ClassVar[bool] = True
    row_offset: float = 0.0

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.squared_norm = operator.squared_norm()

    @abstractmethod
    def value(self, H: Array, AH: Array, G: Array) -> float:
        """Return the objective at H."""

    @abstractmethod
    def parts(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> tuple[Array, Array]:
        """Return (repulsion, attraction), both nonnegative for nonnegative A, with gradient 4 (repulsion − attraction)."""

    def gradient(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> Array:
        """Return the gradient with respect to H, an array of its shape."""
        repulsion, attraction = self.parts(H, AH, G, rows)
        gradient = np.subtract(repulsion, attraction, out=repulsion)
        gradient *= 4
        return gradient
