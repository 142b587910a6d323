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

No sample is similar to itself: diagonals are zero. Each function has an `Affinity` class beside it, in the
file of the same name, whose `extend` gives the similarity of unseen samples to the training samples.
"""

from symclust.graphs._base import Affinity
from symclust.graphs._degrees import degrees, inverse_roots, scale
from symclust.graphs._unit_rows import unit_rows
from symclust.graphs.cosine import cosine
from symclust.graphs.gaussian import gaussian
from symclust.graphs.nearest_neighbors import nearest_neighbors
from symclust.graphs.normalized_cut import normalized_cut
from symclust.graphs.self_tuning import self_tuning

__all__ = [
    "Affinity",
    "cosine",
    "degrees",
    "gaussian",
    "inverse_roots",
    "nearest_neighbors",
    "normalized_cut",
    "scale",
    "self_tuning",
    "unit_rows",
]
