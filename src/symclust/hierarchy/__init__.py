"""Trees of clusters, and how they grow.

=========  ==================================================================================
`Tree`     nodes with their samples; cut at any number of clusters, drawn, written, read
`grow`     split the leaf that needs it most until there are enough
`Within`   which leaf that is, by its samples' similarity to each other
`scores`   the same for topics: how well two topics divide the terms of their parent
`splits`   how the samples of a node are divided in two
=========  ==================================================================================
"""

from symclust.hierarchy.cut_growth import CutGrowth
from symclust.hierarchy.growth import grow
from symclust.hierarchy.samples import Samples
from symclust.hierarchy.splinter import splinter
from symclust.hierarchy.topic_growth import TopicGrowth
from symclust.hierarchy.tree import Node, Tree
from symclust.hierarchy.trials import Trials
from symclust.hierarchy.within import Within

__all__ = [
    "CutGrowth",
    "Node",
    "Samples",
    "TopicGrowth",
    "Tree",
    "Trials",
    "Within",
    "grow",
    "splinter",
]
