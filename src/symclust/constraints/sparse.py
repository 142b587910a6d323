"""Few entries that are not zero."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.constraints._base import Constraint
from symclust.exceptions import OptionError
from symclust.validation import check_number

__all__ = ["Sparse"]


class Sparse(Constraint):
    """At most s entries are not zero, constrained (26), in each row, in each column or in H as a whole.

    The projection keeps the s entries of largest magnitude; among equal ones those that come first.

    Parameters
    ----------
    n_nonzero : int, default=2
        The number s.
    axis : {"rows", "columns", "all"}, default="rows"
        Where they are counted. In rows: a sample has to do with at most s clusters.

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
        """Return a view or copy of H in which every row is a group with its own s."""
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
        """Return the largest entry beyond the s largest of its group."""
        groups = self._groups(H)
        if not H.size or self.n_nonzero >= groups.shape[1]:
            return 0.0
        return float(np.sort(np.abs(groups), axis=1)[:, -self.n_nonzero - 1].max())
