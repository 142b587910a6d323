"""Starts of the descent: each init is a class that the registry finds.

==================  ==============================================================================
`Auto`              `Tree` for a sparse A, `Merge` for others
`Tree`              the leaves of a tree of communities
`Merge`             a short descent with 2k columns, whose clusters are merged to k
`LowRank`           the solution for an approximation of A of low rank
`Random`            uniform entries on the scale of A
`RandomAsPrinted`   uniform entries on [0, 1], as they are
`Spectral`          leading eigenvectors, turned to be as nonnegative as possible
`Greedy`            columns grown one after the other from their best samples
`GreedyAsPrinted`   the same to the letter of the paper
`GreedyThroughout`  the same without a shortcut, Algorithm 5 of the paper
`Nndsvd`            positive or negative parts of the leading singular vectors
`Nndsvda`           the same, zeros filled on the scale of A
`Nndsvdar`          the same with small random numbers in place of zeros
`Zero`              the first sweep of coordinate descent over H = 0
==================  ==============================================================================

With many clusters nearly all of H is zero: `Setting.holds_sparse` decides whether H is a `csr_array` then.
"""

from symclust.starts._base import Formula, Init, Setting, Start, has_many_zeros
from symclust.starts._clusters import start_of_labels
from symclust.starts._solve import count_starts, inits_with, make_init, solve
from symclust.starts.auto import Auto
from symclust.starts.greedy import Greedy, GreedyAsPrinted, GreedyThroughout, Zero
from symclust.starts.low_rank import LowRank
from symclust.starts.merge import Merge
from symclust.starts.nndsvd import Nndsvd, Nndsvda, Nndsvdar
from symclust.starts.random import Random, RandomAsPrinted
from symclust.starts.spectral import Spectral
from symclust.starts.tree import Tree, tree_of_communities
