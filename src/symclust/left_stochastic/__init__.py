"""The geometry of left-stochastic factors: cK ≈ PPᵀ with the rows of P on the probability simplex.

P has one row a sample here, as everywhere in symclust; in Arora, Gupta, Kapila and Fazel (2013) it has one
column a sample. Their Algorithm 1 in pieces:

=============  ============================================================================================
`embedding`    the k leading eigenvectors, scaled by c* (10) and laid into the plane of the simplex
`turns`        rotations in that plane: nearest one (Procrustes), random ones, far-apart samples to vertices
`descent`      turn, project, turn again, from many starts side by side (subroutine 2)
`rotation`     Algorithm 1: embedding, starts, descent, and the objective (3) decides
`halves`       two clusters, whose sides are signs: what hierarchical splits need
`uniqueness`   which other rotations are possible, and which clusters they give
`sizes`        clusters of given sizes from the probabilities
`spectrum`     how much of a similarity lies in its negative eigenvalues
=============  ============================================================================================

Only eigenvectors and products with K are used: no n × n array is made, whatever form K has.
"""

from symclust.left_stochastic.embedding import Embedding, embed
from symclust.left_stochastic.halves import halves
from symclust.left_stochastic.rotation import Rotation, rotate
from symclust.left_stochastic.sizes import assign_sizes
from symclust.left_stochastic.spectrum import negative_part
from symclust.left_stochastic.uniqueness import other_clusterings

__all__ = [
    "Embedding",
    "Rotation",
    "assign_sizes",
    "embed",
    "halves",
    "negative_part",
    "other_clusterings",
    "rotate",
]
