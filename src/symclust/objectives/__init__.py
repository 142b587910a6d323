"""What is minimised: value, gradient, curvature, normal equations and the problem of one row.

=================  ===========================================================
`frobenius`        ‖A − HHᵀ‖² with an optional L1 term
`off_diagonal`     the same without the diagonal
=================  ===========================================================
"""

from symclust.objectives._base import Objective
from symclust.objectives.frobenius import Frobenius
from symclust.objectives.off_diagonal import OffDiagonal

__all__ = ["Frobenius", "Objective", "OffDiagonal"]
