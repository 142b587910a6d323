"""From data to similarity (Kuang, Yun and Park 2015, 7.1).

===================  ======================================  =======================================
function             similarity of two samples               gives
===================  ======================================  =======================================
`nearest_neighbors`  one of those below, between neighbours  a sparse graph: the default
`fuzzy`              exp(−(d_ij − ρ_i) / σ_i), either end     a sparse graph
`multi_view`         neighbours in several views, added      a sparse graph
`cosine`             x_iᵀx_j / (‖x_i‖ ‖x_j‖)                 an operator, or with neighbours sparse
`gaussian`           exp(−‖x_i − x_j‖² / σ²)                 an array, or with neighbours sparse
`self_tuning`        exp(−‖x_i − x_j‖² / (σ_i σ_j))          an array, or with neighbours sparse
`normalized_cut`     any, divided by powers of the degrees   what it was given
`random_walk`        how often short walks on any graph      a sparse graph
                     lead from one to the other
`pixel_affinity`     no edge of the image between two pixels  a sparse graph
===================  ======================================  =======================================

No sample is similar to itself: diagonals are zero. Each function of samples has an `Affinity` class beside
it (`NearestNeighbors`, `Cosine`, `Gaussian`, `SelfTuning`), whose `extend` gives the similarity of unseen
samples to the training samples; `NormalizedCut` and `RandomWalk` do the same for a step from one graph to
another. `attributed_similarity` compares nodes of an `AttributedGraph`, by their edges and features together.
"""

from symclust.graphs._copies import first_of_equal, grouped, row_keys
from symclust.graphs._cues import Barriers, find_barriers, pixel_edges
from symclust.graphs._image import Picture, as_picture
from symclust.graphs._lengths import unit_rows
from symclust.graphs._scaling import columns_are_alike
from symclust.graphs.affinities import (
    Affinity,
    Gaussian,
    NearestNeighbors,
    SelfTuning,
    gaussian,
    nearest_neighbors,
    self_tuning,
)
from symclust.graphs.attributed import (
    AttributedGraph,
    AttributedNodes,
    AttributedSimilarity,
    attributed_similarity,
)
from symclust.graphs.cosine import Cosine, cosine
from symclust.graphs.fuzzy import Fuzzy, fuzzy
from symclust.graphs.multi_view import MultiView, multi_view
from symclust.graphs.normalized_cut import NormalizedCut, normalized_cut
from symclust.graphs.pixels import compare_basins, compare_pixels, edge_strength, pixel_affinity
from symclust.graphs.random_walk import RandomWalk, random_walk

__all__ = [
    "AttributedGraph",
    "AttributedNodes",
    "attributed_similarity",
    "cosine",
    "edge_strength",
    "fuzzy",
    "gaussian",
    "multi_view",
    "nearest_neighbors",
    "normalized_cut",
    "pixel_affinity",
    "random_walk",
    "self_tuning",
]
