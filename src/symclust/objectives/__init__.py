"""What is minimised: value, gradient, curvature, normal equations and the problem of one row.

=================  ===========================================================
`frobenius`        ‖A − HHᵀ‖² with an optional L1 term
`off_diagonal`     the same without the diagonal, and without other pairs that are to be ignored
`absolute`         absolute values instead of squares, again without the diagonal
=================  ===========================================================
"""

from symclust.objectives._base import Objective
from symclust.objectives._columns import Columns
from symclust.objectives._pairs import IgnoredPairs
from symclust.objectives.absolute import Absolute
from symclust.objectives.frobenius import Frobenius
from symclust.objectives.off_diagonal import OffDiagonal

__all__ = ["Absolute", "Columns", "Frobenius", "IgnoredPairs", "Objective", "OffDiagonal"]
