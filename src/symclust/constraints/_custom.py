"""A constraint given as any object with `project`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symclust import registry
from symclust._types import Array
from symclust.constraints._base import Constraint
from symclust.exceptions import InputError, OptionError

__all__ = ["Custom", "as_constraint"]


class Custom(Constraint):
    """The set that an object's `project` projects onto.

    Nothing else is known of the set: H is always projected as a whole, and the distance to the projection
    says how far a point is outside.

    Parameters
    ----------
    given : object
        Has a method `project` from an n × k array to the nearest n × k array in the set.
    """

    offers: ClassVar[frozenset[str]] = frozenset()
    by_rows = False

    def __init__(self, given: Any) -> None:
        self.given = given

    def project(self, H: Array) -> Array:
        """Return what the object's `project` returns, in the precision of H."""
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
        """Return the largest entry of H − P(H)."""
        return float(np.abs(H - self.project(H)).max(initial=0.0))


def as_constraint(constraint: Any) -> Constraint:
    """Return a constraint from its name, from one of ours, or from any object with `project`.

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
