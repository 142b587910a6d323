"""Where the descent starts.

=============  ==============================================================
`random`       uniform entries on the scale of A
`spectral`     leading eigenvectors, turned to be as nonnegative as possible
=============  ==============================================================

``init="merge"`` is a strategy over the loop and lives beside it, in ``solvers/_starts.py``.
"""

from symclust.initialization.random import random
from symclust.initialization.spectral import spectral

__all__ = ["random", "spectral"]
