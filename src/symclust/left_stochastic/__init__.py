"""The geometry of left-stochastic factors: cK ≈ PPᵀ with the rows of P on the probability simplex.

P has one row per sample here, as everywhere in symclust; in Arora, Gupta, Kapila and Fazel (2013) it has one
column per sample. Their Algorithm 1 in pieces:

==============  ===========================================================================================
`embedding`     the k leading eigenvectors, scaled by c* (10) and put into the plane of the simplex; how much
                of a similarity lies in its negative eigenvalues; what each step adds to the error
`descent`       rotations in that plane; turn, project, turn again, from many starts side by side
                (subroutine 2)
`rotation`      Algorithm 1: embedding, starts, descent, and the objective (3) decides
`two_clusters`  two clusters, whose sides are signs, for hierarchical splits
`clusterings`   which other rotations are possible, and which clusters they give; clusters of given sizes
==============  ===========================================================================================

Only eigenvectors and products with K are used: no n × n array is made, whatever form K has.
"""

from symclust.left_stochastic.clusterings import Freedom, assign_sizes, freedom, other_clusterings
from symclust.left_stochastic.embedding import ErrorParts, embed, error_parts, negative_part
from symclust.left_stochastic.rotation import Rotation, rotate
from symclust.left_stochastic.two_clusters import second_half
