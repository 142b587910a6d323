"""Pictures of similarities, runs and choices; the only folder that imports matplotlib, and only to draw."""

from symclust.plotting.picture import picture
from symclust.plotting.plot_calibration import plot_calibration
from symclust.plotting.plot_consensus import plot_consensus
from symclust.plotting.plot_history import plot_history
from symclust.plotting.plot_selection import plot_selection
from symclust.plotting.plot_similarity import cluster_order, plot_before_after, plot_similarity

__all__ = [
    "cluster_order",
    "picture",
    "plot_before_after",
    "plot_calibration",
    "plot_consensus",
    "plot_history",
    "plot_selection",
    "plot_similarity",
]
