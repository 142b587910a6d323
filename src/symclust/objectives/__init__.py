"""Objectives: the function of H that is minimised.

=================  ===========================================================
`frobenius`        ‖A − HHᵀ‖² with an optional L1 term
`off_diagonal`     the same without the diagonal, and without other pairs that are to be ignored
`absolute`         absolute values instead of squares, again without the diagonal
=================  ===========================================================

A new objective is a class with the three methods of `Objective`. Each further method makes more solvers work
with it: they need the protocols `HasGradient`, `HasParts`, `HasCurvature`, `HasColumnCurvature`,
`HasNormalEquations`, `HasRowProblem` and `HasColumns`. `HasSurrogate` and `HasRebuild` are for starts,
`HasSparseMeasure` for factors that are held sparse.
"""

from symclust.objectives._base import (
    ColumnDescent,
    HasColumnCurvature,
    HasColumns,
    HasCurvature,
    HasGradient,
    HasNormalEquations,
    HasParts,
    HasRebuild,
    HasRowProblem,
    HasSparseMeasure,
    HasSurrogate,
    Objective,
    missing_methods,
    row_blocks,
)
from symclust.objectives._sparse_factor import factor_arrays, gram, is_sparse_factor, row_lengths
from symclust.objectives.absolute import Absolute
from symclust.objectives.squared import Frobenius, IgnoredPairs, OffDiagonal, RowTerms, SquaredDistance

__all__ = [
    "Absolute",
    "Frobenius",
    "HasColumnCurvature",
    "HasColumns",
    "HasCurvature",
    "HasGradient",
    "HasNormalEquations",
    "HasParts",
    "HasRebuild",
    "HasRowProblem",
    "HasSparseMeasure",
    "HasSurrogate",
    "Objective",
    "OffDiagonal",
    "SquaredDistance",
    "gram",
]
