"""How the samples of a node are divided in two; one file a way.

A split is made once and called for every node, with the node's `Samples` and a random state; it returns
`Halves`, or None where the samples cannot be divided.
"""

from symclust.hierarchy.splits._base import Halves, Split
from symclust.hierarchy.splits.k_means import KMeans
from symclust.hierarchy.splits.rank_two import RankTwo
from symclust.hierarchy.splits.spherical_k_means import SphericalKMeans

__all__ = ["Halves", "KMeans", "RankTwo", "SphericalKMeans", "Split"]
