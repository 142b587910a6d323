"""The methods of an objective: those for the loop in a base class, those for solvers as protocols.

An objective has a protocol by having its methods.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from symclust._threads import split
from symclust._types import Array, DeviceArray

if TYPE_CHECKING:
    from symclust.constraints import Constraint
    from symclust.objectives._sparse_factor import SparseMeasures
    from symclust.objectives.squared import IgnoredPairs, RowTerms
    from symclust.operators import Operator

ALL_ROWS = slice(None)


def row_blocks(H: Any, size: int) -> Iterable[slice]:
    """The rows of a factor in blocks of `size`; on a device, where starting costs, in one block."""
    return [ALL_ROWS] if isinstance(H, DeviceArray) else split(len(H), size)


class Objective(ABC):
    """A function of one factor H and the similarity A.

    Attributes
    ----------
    operator : Operator
        A.
    """

    operator: Operator

    @property
    def on_device(self) -> bool:
        """Whether it is written in NumPy's operators and functions alone, as factors on a device need it."""
        return False

    def needs_product(self, H: Any) -> bool:
        """Whether AH is needed to measure this H; otherwise None stands in its place."""
        return True

    @abstractmethod
    def measure(self, H: Array, AH: Any, constraint: Constraint) -> tuple[float, float]:
        """The objective at H, and how far H is from a point where nothing improves."""

    @abstractmethod
    def rounding(self, H: Array, AH: Any) -> float:
        """Distance from a stationary point that rounding alone may bring."""

    @abstractmethod
    def relative_error(self, H: Array, value: float) -> float:
        """The share of A that H, a point of that value, leaves unexplained."""

    def certify(self, H: Array, value: float) -> float:
        """`value` as it was measured at H, or a better one if it may be nothing but rounding."""
        return value


# Protocols --------------------------------------------------------------------------------------------------
#
# G is HᵀH in double precision. With `rows`, H and AH are those rows only (G still belongs to the whole H), so
# that large problems go in blocks without n × k temporaries.


def missing_methods(needs: Iterable[type], objective: Any) -> list[str]:
    """The protocols that an objective does not have, in words: "normal equations" for one below."""
    names = [need.__name__.removeprefix("Has") for need in needs if not isinstance(objective, need)]
    return [re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower() for name in names]


@runtime_checkable
class HasGradient(Protocol):
    """Value and gradient from products with A."""

    squared_norm: float

    def value(self, H: Array, AH: Array, G: Array) -> float:
        """The objective at H."""

    def gradient(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> Array:
        """The gradient with respect to H, an array of its shape."""


@runtime_checkable
class HasParts(Protocol):
    """The gradient as a difference."""

    def parts(self, H: Array, AH: Array, G: Array, rows: slice = ALL_ROWS) -> tuple[Array, Array]:
        """(repulsion, attraction), whose difference is a quarter of the gradient."""


@runtime_checkable
class HasCurvature(Protocol):
    """The second derivative."""

    def curvature(self, H: Array, V: Array, AV: Array, G: Array) -> Array:
        """The Hessian at H times V."""


@runtime_checkable
class HasColumnCurvature(Protocol):
    """The second derivative of each column by itself."""

    def column_curvature(self, H: Array, V: Array, AV: Array, G: Array) -> Array:
        """The diagonal blocks of the Hessian, one per column of H, times the columns of V."""


@runtime_checkable
class HasNormalEquations(Protocol):
    """The least squares problem of one of two coupled factors."""

    squared_norm: float
    sparsity: float  # weight of an L1 term in it, or zero

    def value(self, H: Array, AH: Array, G: Array) -> float:
        """The objective at H."""

    def normal_equations(self, W: Array, AW: Array, G: Array, coupling: float) -> tuple[Array, Array]:
        """The matrix and right-hand sides of the least squares problem for H given W."""

    def coupled_value(self, W: Array, AW: Array, H: Array, coupling: float) -> float:
        """The objective of two coupled factors."""


@runtime_checkable
class HasRowProblem(Protocol):
    """The problem of one row of H: A's row, HᵀH, and the terms beside them."""

    @property
    def row_problem(self) -> RowTerms:
        """The terms beside A's row and HᵀH."""


@runtime_checkable
class HasSparseMeasure(Protocol):
    """All about a factor over H ≥ 0 that is held as a `csr_array`, without the product AH."""

    row_problem: RowTerms

    def measure_sparse(self, H: Any) -> tuple[float, SparseMeasures]:
        """The objective at H, and all else that one pass over A gives."""


@runtime_checkable
class HasSurrogate(Protocol):
    """An easier objective that leads random starts to where this one goes on."""

    def surrogate(self) -> Objective:
        """The easier objective."""


@runtime_checkable
class HasRebuild(Protocol):
    """The same objective for another similarity."""

    def rebuild(self, operator: Operator) -> Objective:
        """The objective with the same weights for another A."""


@runtime_checkable
class HasColumns(Protocol):
    """Descent on H entry by entry."""

    operator: Operator

    def columns(self, H: Array) -> ColumnDescent:
        """The descent on H, one column after the other."""


class ColumnDescent(ABC):
    """Coordinate descent on one column of H after the other, in place; compiled code solves for the entries.

    `open` a column, `visit` all of its entries, each once and in any order, then `close` it: or `descend`,
    which does it in the natural order. The entries of the open column are `x`; those of A in `ignored` pairs
    do not count. Unless the `full_diagonal` of A counts, nothing can leave a column of zeros.
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
        """Stationarity by the objective's measure, gathered while the entries were changing."""

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
        """Write the open column back."""
        self.H[:, self.column] = self.x
