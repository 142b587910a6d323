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

from symclust.hierarchy.block_samples import AnySamples, BlockSamples
from symclust.hierarchy.community_growth import CommunityGrowth
from symclust.hierarchy.cut_growth import CutGrowth
from symclust.hierarchy.growth import Within, grow, splinter
from symclust.hierarchy.leaf_graph import LeafGraph
from symclust.hierarchy.samples import Samples
from symclust.hierarchy.topic_growth import TopicGrowth, Trials
from symclust.hierarchy.tree import Node, Tree

__all__ = [
    "AnySamples",
    "BlockSamples",
    "CommunityGrowth",
    "CutGrowth",
    "LeafGraph",
    "Node",
    "Samples",
    "TopicGrowth",
    "Tree",
    "Trials",
    "Within",
    "grow",
    "splinter",
]
