"""From data to similarity (Kuang, Yun and Park 2015, 7.1).

===================  ======================================  =======================================
function             similarity of two samples               gives
===================  ======================================  =======================================
`nearest_neighbors`  one of those below, between neighbours  a sparse graph: the default
`cosine`             x_iᵀx_j / (‖x_i‖ ‖x_j‖)                 an operator, or with neighbours sparse
`gaussian`           exp(−‖x_i − x_j‖² / σ²)                 an array, or with neighbours sparse
`self_tuning`        exp(−‖x_i − x_j‖² / (σ_i σ_j))          an array, or with neighbours sparse
`normalized_cut`     any, divided by the roots of degrees    what it was given
===================  ======================================  =======================================

No sample is similar to itself: diagonals are zero. Each function of samples has an `Affinity` class beside
it (`NearestNeighbors`, `Cosine`, `Gaussian`, `SelfTuning`), whose `extend` gives the similarity of unseen
samples to the training samples; `NormalizedCut` does the same for a step from one graph to another.
"""

from symclust.graphs.affinities import (
    Affinity,
    Gaussian,
    NearestNeighbors,
    SelfTuning,
    gaussian,
    nearest_neighbors,
    self_tuning,
)
from symclust.graphs.cosine import Cosine, cosine, unit_rows
from symclust.graphs.normalized_cut import NormalizedCut, normalized_cut

__all__ = [
    "Affinity",
    "Cosine",
    "Gaussian",
    "NearestNeighbors",
    "NormalizedCut",
    "SelfTuning",
    "cosine",
    "gaussian",
    "nearest_neighbors",
    "normalized_cut",
    "self_tuning",
    "unit_rows",
]
