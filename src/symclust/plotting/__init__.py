"""Pictures of similarities, graphs, trees, runs and choices; the only folder that imports matplotlib.

It is imported when something is drawn, not before: what is computed for a picture needs no library.
"""

from symclust.plotting._layout import GraphMap, graph_map
from symclust.plotting._style import NOWHERE, cluster_colours
from symclust.plotting.picture import picture
from symclust.plotting.plot_calibration import plot_calibration
from symclust.plotting.plot_consensus import plot_consensus
from symclust.plotting.plot_dendrogram import plot_dendrogram
from symclust.plotting.plot_graph import plot_graph
from symclust.plotting.plot_history import plot_history
from symclust.plotting.plot_memberships import plot_memberships
from symclust.plotting.plot_segmentation import (
    plot_segmentation,
    read_segmentation,
    segment_means,
    with_borders,
)
from symclust.plotting.plot_selection import plot_selection
from symclust.plotting.plot_similarity import (
    binned_similarity,
    block_sums,
    cluster_order,
    plot_before_after,
    plot_similarity,
)
from symclust.plotting.plot_topic_words import plot_topic_words
from symclust.plotting.plot_tree import plot_tree

# The other names above are for other folders, and no part of the API.
__all__ = [
    "plot_before_after",
    "plot_calibration",
    "plot_consensus",
    "plot_dendrogram",
    "plot_graph",
    "plot_history",
    "plot_memberships",
    "plot_segmentation",
    "plot_selection",
    "plot_similarity",
    "plot_topic_words",
    "plot_tree",
]
