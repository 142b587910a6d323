"""What the loop needs of every objective, and what solvers may need beyond that.

The loop needs `Objective`: how good is H, how far is it from stationary. A solver that needs more says so by
the protocols below, each named for what it gives; an objective has them by having their methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from symclust import _kernels
from symclust._types import Array

if TYPE_CHECKING:
    from symclust.constraints import Constraint
    from symclust.operators import Operator

ALL_ROWS = slice(None)


class Objective(ABC):
    """A function of one factor H and the similarity A.

    Attributes
    ----------
    operator : Operator
        A.
    uses_products : bool
        Whether AH is needed to measure a point. An objective that does not use it gets None instead.
    """

    uses_products: ClassVar[bool] = True
    operator: Operator

    @abstractmethod
    def measure(self, H: Array, AH: Any, constraint: Constraint) -> tuple[float, float]:
        """Return the objective at H, and how far H is from a point where nothing improves."""

    @abstractmethod
    def rounding(self, H: Array, AH: Any) -> float:
        """Return how far from stationary a point may seem by rounding alone."""

    @abstractmethod
    def relative_error(self, H: Array, value: float) -> float:
        """Return how much of A the point H, with that value, does not explain."""

    def guide(self) -> Objective | None:
        """Return an easier objective that leads random starts to where this one goes on, if there is need."""
        return None


class SquaredDistance(Objective):
    """A squared distance that is seen through products: all follows from H, AH and the Gram matrix of H.

    Attributes
    ----------
    squared_norm : float
        The objective at H = 0.
    """

    squared_norm: float

    @abstractmethod
    def value(self, H: Array, AH: Array, G: Array) -> float:
        """Return the objective at H."""

    def penalty(self, H: Array) -> float:
        """Return the part of the value that does not measure the fit to A."""
        return 0.0

    def rounding(self, H: Array, AH: Array) -> float:
        """Return the size of a gradient 4(HG − AH) that is nothing but rounding: sums of k products."""
        eps, k = np.finfo(H.dtype).eps, H.shape[1]
        return float(16 * np.sqrt(k) * eps * _kernels.norm(AH))

    def relative_error(self, H: Array, value: float) -> float:
        """Return √(misfit / ‖A‖²) for H with that value."""
        misfit = max(0.0, value - self.penalty(H))
        return float(np.sqrt(misfit / self.squared_norm)) if self.squared_norm > 0 else 0.0


# What an objective may give to solvers ----------------------------------------------------------------------
#
# G is HᵀH in double precision. With `rows`, H and AH are those rows only (G still belongs to the whole H), so
# that large problems go in blocks without n × k temporaries.


@runtime_checkable
class GivesGradient(Protocol):
    """Value and gradient from products with A."""

    squared_norm: float

    def value(self, H: Array, AH: Array, G: Array) -> float:
        """Return the objective at H."""

    def gradient(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> Array:
        """Return the gradient with respect to H, an array of its shape."""


@runtime_checkable
class GivesParts(Protocol):
    """The gradient as a difference."""

    def parts(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> tuple[Array, Array]:
        """Return (repulsion, attraction), whose difference is a quarter of the gradient."""


@runtime_checkable
class GivesCurvature(Protocol):
    """The second derivative."""

    def curvature(self, H: Array, V: Array, AV: Array, G: Array) -> Array:
        """Return the Hessian at H times V."""


@runtime_checkable
class GivesColumnCurvature(Protocol):
    """The second derivative of each column by itself."""

    def column_curvature(self, H: Array, V: Array, AV: Array, G: Array) -> Array:
        """Return the diagonal blocks of the Hessian, one a column of H, times the columns of V."""


@runtime_checkable
class GivesNormalEquations(Protocol):
    """The least squares problem of one of two coupled factors."""

    squared_norm: float
    sparsity: float  # weight of an L1 term in it, or zero

    def value(self, H: Array, AH: Array, G: Array) -> float:
        """Return the objective at H."""

    def normal_equations(self, W: Array, AW: Array, G: Array, coupling: float) -> tuple[Array, Array]:
        """Return the matrix and right-hand sides of the least squares problem for H given W."""

    def coupled_value(self, W: Array, AW: Array, H: Array, coupling: float) -> float:
        """Return the objective of two coupled factors."""


@runtime_checkable
class GivesRowProblem(Protocol):
    """The problem of one row of H: A's row, HᵀH, and the terms beside them."""

    @property
    def row_problem(self) -> RowTerms:
        """What the problem has beside A's row and HᵀH."""


@runtime_checkable
class GivesColumns(Protocol):
    """Descent on H entry by entry."""

    operator: Operator

    def columns(self, H: Array) -> Columns:
        """Return what descends on H, one column after the other."""


# What they are made of --------------------------------------------------------------------------------------


class RowTerms(NamedTuple):
    """What a row's problem has beside A's row and HᵀH.

    It is of degree four if the diagonal counts, else a least squares problem. `offset` is added to every
    entry of HᵀH, which is what an L1 term does; `ignored` are the pairs whose entries of A do not count.
    """

    full_diagonal: bool
    offset: float
    ignored: IgnoredPairs


def _nothing() -> Array:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class IgnoredPairs:
    """Pairs of samples that carry no information.

    The pattern of a symmetric mask without its diagonal, as CSR; empty arrays where nothing is ignored.
    """

    indptr: Array = field(default_factory=_nothing)
    indices: Array = field(default_factory=_nothing)

    @classmethod
    def of(cls, mask: sparse.csr_array) -> IgnoredPairs:
        """Take the pattern of a canonical CSR mask."""
        return cls(mask.indptr.astype(np.int64), mask.indices.astype(np.int64))

    @property
    def arrays(self) -> tuple[Array, Array]:
        """What the kernels want."""
        return self.indptr, self.indices

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return self.indices.size > 0

    def products(self, H: Array) -> Any:
        """Return h_i·h_j at the pairs, as a csr_array."""
        values = np.empty(self.indices.size, dtype=H.dtype)
        _kernels.pattern_products(self.indptr, self.indices, np.ascontiguousarray(H), values)
        return sparse.csr_array((values, self.indices, self.indptr), shape=(len(H), len(H)))


class Columns(ABC):
    """Coordinate descent on one column of H after the other, in place; compiled code solves for the entries.

    `open` a column, `visit` all of its entries, each once and in any order, then `close` it: or `descend`,
    which does it in the natural order.

    Attributes
    ----------
    full_diagonal : bool
        Whether the diagonal of A counts. If not, nothing can leave a column of zeros.
    ignored : IgnoredPairs
        Pairs whose entries of A do not count.
    x : ndarray of shape (n,)
        The entries of the open column.
    """

    full_diagonal: bool = False

    def __init__(self, operator: Operator, H: Array, ignored: IgnoredPairs) -> None:
        self.A: Any = operator
        self.H = H
        self.ignored = ignored
        self.column = 0
        self.x = np.empty(0, dtype=H.dtype)
        self.all_ids = np.arange(len(H))

    @property
    @abstractmethod
    def decrease(self) -> float:
        """By how much the objective has fallen."""

    @property
    @abstractmethod
    def stationarity(self) -> float:
        """What the objective calls stationarity, gathered while the entries were changing."""

    def descend(self, column: int) -> None:
        """Minimise over the entries of a column, one after the other."""
        self.open(column)
        self.visit(self.all_ids)
        self.close()

    def open(self, column: int) -> None:
        """Begin with a column."""
        self.column = column
        self.x = np.ascontiguousarray(self.H[:, column])

    @abstractmethod
    def visit(self, ids: Array) -> None:
        """Minimise over the entries `ids` of the open column, in that order."""

    def place(self, i: int, value: float) -> None:
        """Set an entry of the open column."""
        self.x[i] = self.H[i, self.column] = value

    def close(self) -> None:
        """Be done with a column."""
        self.H[:, self.column] = self.x
