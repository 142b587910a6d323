"""The methods of a constraint, and how a set of the user's becomes one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from symclust import _kernels, registry
from symclust._types import Array
from symclust.exceptions import InputError, OptionError


class Constraint(ABC):
    """A closed set that H is kept in.

    A subclass needs `project` and `violation`; the rest has defaults that are right for every set.

    Attributes
    ----------
    offers : frozenset of str
        Properties that solvers may rely on: "nonnegative" for the orthant H ≥ 0 itself,
        "entrywise" if every entry is projected by itself, "convex".
    by_rows : bool
        Whether every row is projected by itself, so that H can be handled in blocks of rows.
    on_device : bool
        Whether it is written in NumPy's operators and functions alone, and so works on factors on a device.
    nonnegative : bool
        Whether no point of the set has a negative entry.
    most_per_row : int or None
        How many entries of a row may differ from zero; None if that is not limited.
    """

    offers: ClassVar[frozenset[str]] = frozenset()
    by_rows: bool = True
    on_device: ClassVar[bool] = False
    nonnegative: ClassVar[bool] = False
    most_per_row: int | None = None

    @abstractmethod
    def project(self, H: Array) -> Array:
        """The nearest point of the set, one of them if several are equally near."""

    @abstractmethod
    def violation(self, H: Array) -> float:
        """The largest amount by which H leaves the set, 0.0 inside."""

    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """The part of the gradient that the constraint does not hold; zero at stationary points.

        By default (H − P(H − t∇)) / t, which is zero if a projected gradient step of size t goes nowhere. If
        that holds for a step it holds for all shorter ones, so t is short, ‖t∇‖ = ε^⅓ ‖H‖: as far as rounding
        allows, the limit t → 0.
        """
        slope = _kernels.norm(gradient)
        size = _kernels.norm(H)
        if slope == 0.0:
            return gradient
        t = H.dtype.type(float(np.finfo(H.dtype).eps) ** (1 / 3) * (size or 1.0) / slope)
        return (H - self.project(H - t * gradient)) / t

    def random(self, shape: tuple[int, int], rng: np.random.RandomState, level: float = 1.0) -> Array:
        """A random point of the set, made from normal numbers of standard deviation `level`."""
        return self.project(level * rng.standard_normal(shape))

    def __repr__(self) -> str:
        names = signature(type(self)).parameters
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"


class VectorConstraint(Constraint):
    """Every row, or every column, lies in the same set of vectors.

    A subclass projects the rows of a matrix; columns are the rows of the transpose.
    """

    def __init__(self, axis: str = "rows") -> None:
        if axis not in ("rows", "columns"):
            raise OptionError(f"axis={axis!r} is not known. Choose one of 'rows', 'columns'.")
        self.axis = axis
        self.by_rows = axis == "rows"

    def project(self, H: Array) -> Array:
        """The nearest point of the set, vector by vector."""
        if self.by_rows:
            return self._project_rows(H)
        return self._project_rows(H.T.copy()).T.copy()

    def violation(self, H: Array) -> float:
        """The largest amount by which a vector leaves the set."""
        if not H.size:
            return 0.0
        return float(self._violation_of_rows(H if self.by_rows else H.T))

    @abstractmethod
    def _project_rows(self, V: Array) -> Array:
        """Project every row of V."""

    @abstractmethod
    def _violation_of_rows(self, V: Array) -> float:
        """The largest violation among the rows of V."""


class Custom(Constraint):
    """The set that an object's `project` projects onto.

    Nothing else is known of the set: H is always projected as a whole, and a point is as far outside as its
    projection is away.

    Parameters
    ----------
    given : object
        Has a method `project` from an n × k array to the nearest n × k array in the set.
    """

    by_rows = False

    def __init__(self, given: Any) -> None:
        self.given = given

    def project(self, H: Array) -> Array:
        """The object's projection, in the precision of H."""
        # A copy: the object may well work in place.
        projected = np.asarray(self.given.project(H.copy()))
        if projected.shape != H.shape or projected.dtype.kind not in "fiu":
            raise InputError(
                f"{type(self.given).__name__}.project must return an array of numbers of the shape it is "
                f"given, {H.shape}; it returned shape {projected.shape} and dtype {projected.dtype}."
            )
        if not np.isfinite(projected).all():
            raise InputError(
                f"{type(self.given).__name__}.project must return finite numbers; it returned NaN or "
                "infinity. Does it divide by the length of a row or column that may be zero?"
            )
        return np.ascontiguousarray(projected, dtype=H.dtype)

    def violation(self, H: Array) -> float:
        """The largest entry of H − P(H)."""
        return float(np.abs(H - self.project(H)).max(initial=0.0))


def as_constraint(constraint: object) -> Constraint:
    """A constraint from its name, from one of ours, or from any object with `project`.

    Parameters
    ----------
    constraint : str, Constraint or object
        The name of a constraint, or an object whose ``project(H)`` returns the nearest array in its set.

    Examples
    --------
    >>> from symclust.constraints import as_constraint
    >>> as_constraint("unit")
    Unit(axis='rows')
    """
    if isinstance(constraint, Constraint):
        return constraint
    if isinstance(constraint, str):
        return registry.resolve("constraints", constraint)()
    if not isinstance(constraint, type) and callable(getattr(constraint, "project", None)):
        return Custom(constraint)
    known = ", ".join(map(repr, registry.options("constraints")))
    raise OptionError(
        f"constraint={constraint!r} is not known. Choose one of {known}, or give an object with a method "
        "`project` from H to the nearest point of the set."
    )
