"""Two factors of a data matrix: X ≈ WCᵀ, memberships W (n × k) and feature weights C (d × k).

The point that the loop moves is H = [W; C], and A = [[0, X], [Xᵀ, 0]], an operator of its own: then
AH = [XC; XᵀW] is all that value and gradient need, and the clock, the history, the stopping and the starts
side by side are those of `symclust.solvers`.

==============  ==================================================================  ================
objective       what is minimised                                                   estimator
==============  ==================================================================  ================
`TwoFactors`    ‖X − WCᵀ‖²                                                          `NMF`
`SparseRows`    ‖X − WCᵀ‖² + α‖C‖² + β Σ ‖w_i‖₁², thesis (11)                       `SparseNMF`
`Affine`        ‖X − 1bᵀ − WCᵀ‖², thesis (46)                                       `AffineNMF`
`Smooth`        ‖X − WCᵀ‖² + λ Σ ‖c_l‖² w_lᵀLw_l, L the Laplacian of a graph        `GraphNMF`
==============  ==================================================================  ================

A solver, one of ``solvers.py``, lowers the least squares problem of one factor while the other stands still.
"""

from symclust.two_factors.objective import RowProblem, TwoFactors
from symclust.two_factors.smooth import Smooth, SmoothAsPrinted
from symclust.two_factors.starts import starting_points
from symclust.two_factors.variants import Affine, SparseRows
