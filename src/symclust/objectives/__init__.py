"""What is minimised: how good is H, how far is it from stationary, and what solvers need beyond that.

=================  ===========================================================
`frobenius`        ‖A − HHᵀ‖² with an optional L1 term
`off_diagonal`     the same without the diagonal, and without other pairs that are to be ignored
`absolute`         absolute values instead of squares, again without the diagonal
=================  ===========================================================

A new objective is a class with the three methods of `Objective`. Each further method makes more solvers work
with it: they ask for the protocols `GivesGradient`, `GivesParts`, `GivesCurvature`, `GivesColumnCurvature`,
`GivesNormalEquations`, `GivesRowProblem` and `GivesColumns`. `GivesGuide` is for starts, `GivesJudgement` for
factors that are held sparse.
"""

from symclust.objectives._base import (
    Columns,
    GivesColumnCurvature,
    GivesColumns,
    GivesCurvature,
    GivesGradient,
    GivesGuide,
    GivesJudgement,
    GivesNormalEquations,
    GivesParts,
    GivesRowProblem,
    Objective,
    row_blocks,
)
from symclust.objectives._sparse_factor import factor_arrays, gram, is_sparse_factor, row_lengths
from symclust.objectives.absolute import Absolute
from symclust.objectives.squared import Frobenius, IgnoredPairs, OffDiagonal, RowTerms, SquaredDistance

__all__ = [
    "Absolute",
    "Frobenius",
    "GivesColumnCurvature",
    "GivesColumns",
    "GivesCurvature",
    "GivesGradient",
    "GivesGuide",
    "GivesJudgement",
    "GivesNormalEquations",
    "GivesParts",
    "GivesRowProblem",
    "Objective",
    "OffDiagonal",
    "SquaredDistance",
    "gram",
]
