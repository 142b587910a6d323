"""Where H lives: projection onto the set, and how far a point is from being stationary on it.

=================  =========================================================================
`free`             everywhere
`nonnegative`      H ≥ 0
`unit`             rows (or columns) of length 1
`sparse`           at most s entries not zero in each row (or each column, or in all of H)
`orthogonal`       orthonormal columns
`l1`               rows (or columns) with ‖h‖₁ ≤ α
`simplex`          rows that are nonnegative and sum to 1
`one_per_row`      H ≥ 0 with orthogonal columns: at most one entry a row, as in k-means
=================  =========================================================================

A set of your own is any object with a method `project`; `as_constraint` wraps it.
"""

from symclust.constraints._base import Constraint
from symclust.constraints._custom import Custom, as_constraint
from symclust.constraints._threshold import project_simplex
from symclust.constraints.free import Free
from symclust.constraints.l1 import L1
from symclust.constraints.nonnegative import Nonnegative
from symclust.constraints.one_per_row import OnePerRow
from symclust.constraints.orthogonal import Orthogonal
from symclust.constraints.simplex import Simplex
from symclust.constraints.sparse import Sparse
from symclust.constraints.unit import Unit

__all__ = [
    "L1",
    "Constraint",
    "Custom",
    "Free",
    "Nonnegative",
    "OnePerRow",
    "Orthogonal",
    "Simplex",
    "Sparse",
    "Unit",
    "as_constraint",
    "project_simplex",
]
