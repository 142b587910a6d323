"""What a solver may ask of an objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from symclust import _kernels
from symclust._threads import split
from symclust._types import Array
from symclust.exceptions import CombinationError
from symclust.objectives._pairs import IgnoredPairs

if TYPE_CHECKING:
    from symclust.constraints import Constraint
    from symclust.objectives._columns import Columns
    from symclust.operators import Operator

ALL_ROWS = slice(None)
MEASURED_ROWS = 1 << 11  # rows measured at once: few enough for their gradient to stay in the cache


class Objective(ABC):
    """A function of one factor H that depends on A through products only.

    Everything is computed from H, the product AH and the Gram matrix G = HᵀH, which the caller has already
    paid for (AH is None for an objective that does not use it). With `rows`, H and AH are those rows only (G
    still belongs to the whole H), so that large problems can be measured in blocks without n × k temporaries.

    Attributes
    ----------
    offers : frozenset of str
        The optional parts this objective implements, by name; a solver lists the ones it needs.
    full_diagonal : bool
        Whether the diagonal of A counts. It decides the shape of the row problem: quartic if it does, else
        quadratic.
    uses_products : bool
        Whether value and gradient follow from AH. An objective that does not use it gets None instead and has
        a `measure` of its own.
    row_offset : float
        Added to every entry of G in the row problem (an L1 term does that).
    ignored : IgnoredPairs
        Pairs whose entries of A do not count.
    """

    offers: ClassVar[frozenset[str]] = frozenset({"value", "gradient"})
    full_diagonal: ClassVar[bool] = True
    uses_products: ClassVar[bool] = True
    row_offset: float = 0.0
    ignored: IgnoredPairs = IgnoredPairs()

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.squared_norm = operator.squared_norm()

    @abstractmethod
    def value(self, H: Array, AH: Array, G: Array) -> float:
        """Return the objective at H."""

    def gram(self, H: Array) -> Array:
        """Return what value and gradient need of HᵀH, in double precision."""
        return _kernels.gram(H)[0]

    def measure(self, H: Array, AH: Any, constraint: Constraint) -> tuple[float, float]:
        """Return the objective and ‖∇ᴾf(H)‖, holding the gradient of a block of rows at a time."""
        G = self.gram(H)
        squared = 0.0
        for rows in split(len(H), MEASURED_ROWS if constraint.by_rows else len(H)):
            gradient = self.gradient(H[rows], AH[rows], G, rows)
            projected = constraint.projected_gradient(H[rows], gradient).reshape(-1)
            squared += _kernels.inner(projected, projected)
        return self.value(H, AH, G), float(np.sqrt(squared))

    def rounding(self, H: Array, AH: Any) -> float:
        """Return the size of a gradient 4(HG − AH) that is nothing but rounding: sums of k products."""
        eps, k = np.finfo(H.dtype).eps, H.shape[1]
        return float(16 * np.sqrt(k) * eps * _kernels.norm(AH))

    def relative_error(self, H: Array, value: float) -> float:
        """Return √(misfit / ‖A‖²) for H with that value."""
        misfit = max(0.0, value - self.penalty(H))
        return float(np.sqrt(misfit / self.squared_norm)) if self.squared_norm > 0 else 0.0

    def gradient(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> Array:
        """Return the gradient with respect to H, an array of its shape."""
        repulsion, attraction = self.parts(H, AH, G, rows)
        gradient = np.subtract(repulsion, attraction, out=repulsion)
        gradient *= 4
        return gradient

    def guide(self) -> Objective | None:
        """Return an easier objective that leads random starts to where this one goes on, if there is need."""
        return None

    # Optional parts. `offers` says which of them an objective has; solvers check it before the first product.

    def parts(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> tuple[Array, Array]:
        """Return (repulsion, attraction), whose difference is a quarter of the gradient."""
        raise self._lacks("parts")

    def columns(self, H: Array) -> Columns:
        """Return what descends on H entry by entry, one column after the other."""
        raise self._lacks("columns")

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
