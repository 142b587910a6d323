"""Few entries that are not zero: counted, bounded by their sum, or one per row."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust._types import Array
from symclust.constraints._base import Constraint, VectorConstraint
from symclust.constraints.simplex import project_simplex
from symclust.exceptions import OptionError
from symclust.validation import check_number

__all__ = ["L1", "OnePerRow", "Sparse"]


class Sparse(Constraint):
    """At most s entries are not zero, constrained (26), in each row, in each column or in H as a whole.

    The projection keeps the s entries of largest magnitude; among equal ones those that come first.

    Parameters
    ----------
    n_nonzero : int, default=2
        The number s.
    axis : {"rows", "columns", "all"}, default="rows"
        The groups in which they are counted. In rows: a sample has to do with at most s clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import Sparse
    >>> Sparse(2).project(np.array([[3.0, -4.0, 1.0], [0.0, 0.0, 5.0]])).tolist()
    [[3.0, -4.0, 0.0], [0.0, 0.0, 5.0]]
    """

    def __init__(self, n_nonzero: int = 2, axis: str = "rows") -> None:
        check_number("n_nonzero", n_nonzero, least=1, whole=True)
        if axis not in ("rows", "columns", "all"):
            raise OptionError(f"axis={axis!r} is not known. Choose one of 'rows', 'columns', 'all'.")
        self.n_nonzero, self.axis = n_nonzero, axis
        self.by_rows = axis == "rows"
        self.most_per_row = n_nonzero if self.by_rows else None

    def _groups(self, H: Array) -> Array:
        """A view or copy of H in which every row is a group with its own s."""
        return {"rows": H, "columns": H.T, "all": H.reshape(1, -1)}[self.axis]

    def project(self, H: Array) -> Array:
        """Keep the s largest entries of each group by magnitude."""
        groups = self._groups(H)
        if self.n_nonzero >= groups.shape[1]:
            return H
        kept = np.argsort(-np.abs(groups), axis=1, kind="stable")[:, : self.n_nonzero]
        out = np.zeros_like(H)
        # Columns and the whole are views of `out`, which is C-contiguous.
        np.put_along_axis(self._groups(out), kept, np.take_along_axis(groups, kept, axis=1), axis=1)
        return out

    def violation(self, H: Array) -> float:
        """The largest entry beyond the s largest of its group."""
        groups = self._groups(H)
        if not H.size or self.n_nonzero >= groups.shape[1]:
            return 0.0
        return float(np.sort(np.abs(groups), axis=1)[:, -self.n_nonzero - 1].max())


class L1(VectorConstraint):
    """‖h‖₁ ≤ α for every row or every column: a convex way to few large entries, constrained (28).

    A vector outside the ball is soft-thresholded: ``sign(h) max(|h| − τ, 0)`` with the τ that gives norm α.

    Parameters
    ----------
    radius : float, default=1.0
        The bound α. It has the unit of H, the square root of that of A.
    axis : {"rows", "columns"}, default="rows"
        Which vectors are bounded.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import L1
    >>> L1().project(np.array([[0.3, -0.2], [2.0, -1.5]])).tolist()
    [[0.3, -0.2], [0.75, -0.25]]
    """

    offers: ClassVar[frozenset[str]] = frozenset({"convex"})
    on_device: ClassVar[bool] = True

    def __init__(self, radius: float = 1.0, axis: str = "rows") -> None:
        check_number("radius", radius, least=0, exclusive=True)
        super().__init__(axis)
        self.radius = radius

    def _project_rows(self, V: Array) -> Array:
        magnitude = np.abs(V)
        outside = magnitude.sum(axis=1) > self.radius
        if not outside.any():
            return V
        out = V.copy()
        out[outside] = np.sign(V[outside]) * project_simplex(magnitude[outside], self.radius)
        return out

    def _violation_of_rows(self, V: Array) -> float:
        return max(np.abs(V).sum(axis=1).max() - self.radius, 0.0)


class OnePerRow(Constraint):
    """H ≥ 0 with orthogonal columns: every row has at most one entry that is not zero, as in k-means.

    Nonnegative columns are orthogonal exactly if no row has entries in two of them, and that is the set:
    HᵀH is diagonal. The projection onto it is exact: keep the largest entry of each row if it is positive
    (the first of several equal ones), and nothing otherwise. The lengths of the columns stay free, since the
    objective itself finds the best ones; with columns of length 1 in addition, the place of a row would
    depend on all other rows, and the nearest point would be a combinatorial problem.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import OnePerRow
    >>> OnePerRow().project(np.array([[1.0, 3.0], [2.0, -5.0], [-1.0, -2.0]])).tolist()
    [[0.0, 3.0], [2.0, 0.0], [0.0, 0.0]]
    """

    nonnegative: ClassVar[bool] = True
    most_per_row = 1

    def project(self, H: Array) -> Array:
        """Keep the largest entry of each row if it is positive."""
        rows, best = np.arange(len(H)), H.argmax(axis=1)
        out = np.zeros_like(H)
        out[rows, best] = np.maximum(H[rows, best], 0)
        return out

    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """Keep the gradient at the entry of each row; in a row of zeros its most negative entry."""
        rows = np.arange(len(H))
        best = np.where(H.any(axis=1), H.argmax(axis=1), gradient.argmin(axis=1))
        out = np.zeros_like(gradient)
        slope = gradient[rows, best]
        out[rows, best] = np.where(H[rows, best] > 0, slope, np.minimum(slope, 0))
        return out

    def random(self, shape: tuple[int, int], rng: np.random.RandomState, level: float = 1.0) -> Array:
        """A random assignment with positive entries."""
        return self.project(level * np.abs(rng.standard_normal(shape)))

    def violation(self, H: Array) -> float:
        """Largest distance of an entry below zero, or the largest second entry of a row."""
        if not H.size:
            return 0.0
        second = np.sort(H, axis=1)[:, -2].max() if H.shape[1] > 1 else 0.0
        return float(max(-H.min(), second))
