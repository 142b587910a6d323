"""Nonnegative least squares from normal equations, for many right-hand sides.

Every method takes G (k × k, symmetric positive semidefinite) and R (n × k, one right-hand side a row) and
works on

    min over x ≥ 0 of ½ xᵀGx − rᵀx,

the problem min ‖Cx − b‖² with G = CᵀC and r = Cᵀb (thesis, section 3.4; symnmf, section 6.3). A solution
satisfies x ≥ 0, y = Gx − r ≥ 0 and xᵀy = 0.
"""

from symclust.nnls.active_set import active_set
from symclust.nnls.block_pivoting import block_pivoting
from symclust.nnls.hals import hals
from symclust.nnls.rank_two import rank_two

__all__ = ["active_set", "block_pivoting", "hals", "rank_two"]
