"""Where the descent starts.

=============  ==============================================================
`random`       uniform entries on the scale of A
`spectral`     leading eigenvectors, turned to be as nonnegative as possible
`greedy`       columns grown one after the other from their best samples
`nndsvd`       positive or negative parts of the leading singular vectors
`nndsvda`      the same, zeros filled on the scale of A
`nndsvdar`     the same with small random numbers in place of zeros
`zero`         the first sweep of coordinate descent over H = 0
=============  ==============================================================

``init="merge"`` is a strategy over the loop and lives beside it, in ``solvers/_starts.py``.
"""

from symclust.starts.greedy import greedy, zero
from symclust.starts.nndsvd import nndsvd, nndsvda, nndsvdar
from symclust.starts.random import random
from symclust.starts.spectral import spectral, turned_embedding
