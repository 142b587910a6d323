"""What a solver may ask of an objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from symclust.exceptions import CombinationError

if TYPE_CHECKING:
    from symclust.operators import Operator

Array = np.ndarray
ALL_ROWS = slice(None)


class Objective(ABC):
    """A function of one factor H that depends on A through products only.

    Everything is computed from H, the product AH and the Gram matrix G = HᵀH, which the caller has already
    paid for. With `rows`, H and AH are those rows only (G still belongs to the whole H), so that large
    problems can be measured in blocks without n × k temporaries.

    Attributes
    ----------
    offers : frozenset of str
        The optional parts this objective implements, by name; a solver lists the ones it needs.
    full_diagonal : bool
        Whether the diagonal of A counts. It decides the shape of the row problem: quartic if it does, else
        quadratic.
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
        """Return (repulsion, attraction), whose difference is a quarter of the gradient."""

    def gradient(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> Array:
        """Return the gradient with respect to H, an array of its shape."""
        repulsion, attraction = self.parts(H, AH, G, rows)
        gradient = np.subtract(repulsion, attraction, out=repulsion)
        gradient *= 4
        return gradient

    # Optional parts. `offers` says which of them an objective has; solvers check it before the first product.

    def penalty(self, H: Array) -> float:
        """Return the part of the value that does not measure the fit to A."""
        return 0.0

    def curvature(self, H: Array, V: Array, AV: Array, G: Array) -> Array:
        """Return the Hessian at H times V."""
        raise self._lacks("curvature")

    def column_curvature(self, H: Array, V: Array, AV: Array, G: Array) -> Array:
        """Return the diagonal blocks of the Hessian, one a column of H, times the columns of V."""
        raise self._lacks("column_curvature")

    def normal_equations(self, W: Array, AW: Array, G: Array, coupling: float) -> tuple[Array, Array]:
        """Return the matrix and right-hand sides of the least squares problem for H given W."""
        raise self._lacks("normal_equations")

    def coupled_value(self, W: Array, AW: Array, H: Array, coupling: float) -> float:
        """Return the objective of two coupled factors."""
        raise self._lacks("coupled_value")

    def _lacks(self, part: str) -> CombinationError:
        return CombinationError(
            f"The objective {type(self).__name__} has no {part}; it offers {sorted(self.offers)}."
        )
