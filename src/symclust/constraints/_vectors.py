"""Constraints on single vectors of H: its rows, or its columns."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from symclust._types import Array
from symclust.constraints._base import Constraint
from symclust.exceptions import OptionError

__all__ = ["VectorConstraint"]


class VectorConstraint(Constraint):
    """Every row, or every column, lies in the same set of vectors.

    A subclass says what happens to the rows of a matrix; columns are the rows of the transpose.
    """

    def __init__(self, axis: str = "rows") -> None:
        if axis not in ("rows", "columns"):
            raise OptionError(f"axis={axis!r} is not known. Choose one of 'rows', 'columns'.")
        self.axis = axis
        self.by_rows = axis == "rows"

    def project(self, H: Array) -> Array:
        """Return the nearest point of the set, vector by vector."""
        if self.by_rows:
            return self._project_rows(H)
        return np.ascontiguousarray(self._project_rows(np.ascontiguousarray(H.T)).T)

    def violation(self, H: Array) -> float:
        """Return the largest amount by which a vector leaves the set."""
        if not H.size:
            return 0.0
        return float(self._violation_of_rows(H if self.by_rows else H.T))

    @abstractmethod
    def _project_rows(self, V: Array) -> Array:
        """Project every row of V."""

    @abstractmethod
    def _violation_of_rows(self, V: Array) -> float:
        """Return the largest violation among the rows of V."""
