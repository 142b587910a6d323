"""Trees of clusters, and how they grow.

=================  ==============================================================================
`Tree`             nodes with their samples; cut at any number of clusters, drawn, written, read
`grow`             split the leaf that needs it most until there are enough
`Within`           which leaf that is, by its samples' similarity to each other
`splinter`         how DIANA splits it
`CutGrowth`        a tree of communities as it grows, on a graph
`CommunityGrowth`  the same on a graph of joined nodes, with local moves between the leaves
`TopicGrowth`      a tree of topics as it grows, on samples × features
`splits`           how the samples of a topic are divided in two
`scores`           which topic is split next: how well two topics divide the terms of their parent
=================  ==============================================================================
"""

from symclust.hierarchy.communities.cuts import CutGrowth
from symclust.hierarchy.communities.graph import LeafGraph
from symclust.hierarchy.communities.levels import found_on_all_scales
from symclust.hierarchy.communities.likelihood import (
    PlantedPartition,
    planted_log_likelihood,
    raise_likelihood,
)
from symclust.hierarchy.communities.scales import (
    CommunityGrowth,
    RaiseBoth,
    RaiseLikelihood,
    RaiseModularity,
)
from symclust.hierarchy.divisive import Within, grow, splinter
from symclust.hierarchy.topics.block_samples import AnySamples, BlockSamples
from symclust.hierarchy.topics.growth import TopicGrowth, Trials
from symclust.hierarchy.topics.samples import DeviceSamples, Samples
from symclust.hierarchy.tree import Node, Tree

__all__ = [
    "Node",
    "Tree",
]
