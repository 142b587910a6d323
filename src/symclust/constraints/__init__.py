"""Where H lives: projection onto the set, and how far a point is from being stationary on it.

=================  ===============
`nonnegative`      H ≥ 0
=================  ===============
"""

from symclust.constraints._base import Constraint
from symclust.constraints.nonnegative import Nonnegative

__all__ = ["Constraint", "Nonnegative"]
