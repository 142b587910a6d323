"""Where the descent starts.

=============  ==============================================================
`random`       uniform entries on the scale of A
`spectral`     leading eigenvectors, turned to be as nonnegative as possible
`greedy`       columns grown one after the other from their best samples
`zero`         the first sweep of coordinate descent over H = 0
=============  ==============================================================

``init="merge"`` is a strategy over the loop and lives beside it, in ``solvers/_starts.py``.
"""

from symclust.initialization.greedy import greedy
from symclust.initialization.random import random
from symclust.initialization.spectral import spectral
from symclust.initialization.zero import zero

__all__ = ["greedy", "random", "spectral", "zero"]
