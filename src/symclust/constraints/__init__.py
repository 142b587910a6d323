"""Constraints: sets that H lies in, with the projection onto them.

=================  =========================================================================
`free`             everywhere
`nonnegative`      H ≥ 0
`unit`             rows (or columns) of length 1
`sparse`           at most s entries not zero in each row (or each column, or in all of H)
`orthogonal`       orthonormal columns
`l1`               rows (or columns) with ‖h‖₁ ≤ α
`simplex`          rows that are nonnegative and sum to 1
`one_per_row`      H ≥ 0 with orthogonal columns: at most one entry per row, as in k-means
=================  =========================================================================

A set of your own is any object with a method `project`; `as_constraint` wraps it.
"""

from symclust.constraints._base import Constraint, Custom, as_constraint
from symclust.constraints.lengths import Orthogonal, Unit
from symclust.constraints.signs import Free, Nonnegative
from symclust.constraints.simplex import Simplex, project_simplex
from symclust.constraints.sparsity import L1, OnePerRow, Sparse

__all__ = [
    "L1",
    "Constraint",
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
