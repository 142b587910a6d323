"""How two factors are improved: a solver lowers the least squares problem of one factor, then of the other.

An iteration costs one product with X and one with Xᵀ, whichever solver it is.

====================  =======================================================================================
`bpp`                 each problem solved exactly, by block principal pivoting
`hals`                one sweep over the columns of each factor
`multiplicative`      multiplicative updates of all entries at once: simple, slow
`projected_gradient`  ten projected gradient steps on each problem
====================  =======================================================================================
"""

from symclust.two_factors.solvers.bpp import Bpp
from symclust.two_factors.solvers.hals import Hals
from symclust.two_factors.solvers.multiplicative import Multiplicative
from symclust.two_factors.solvers.projected_gradient import ProjectedGradient

__all__ = ["Bpp", "Hals", "Multiplicative", "ProjectedGradient"]
