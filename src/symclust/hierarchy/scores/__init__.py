"""Which leaf of a topic tree is split next: the one whose trial split scores highest.

==========  =================================================================================
`mndcg`     how well the parts divide the leaf's ranking of terms, thesis (58)-(63)
`energy`    the same, weighted by how much more of the samples two topics explain than one
==========  =================================================================================
"""

from collections.abc import Callable

import numpy as np

from symclust.hierarchy.samples import Samples
from symclust.hierarchy.scores._ndcg import CANNOT_BE_SPLIT, mndcg_score
from symclust.hierarchy.scores.energy import energy
from symclust.hierarchy.scores.mndcg import mndcg
from symclust.hierarchy.splits import Halves

Score = Callable[[np.ndarray, Samples, Halves], float]

__all__ = ["CANNOT_BE_SPLIT", "Score", "energy", "mndcg", "mndcg_score"]
