"""Data with known clusters, made on the spot."""

from symclust.datasets.expression import simulated_expression
from symclust.datasets.lfr import lfr, overlapping_lfr
from symclust.datasets.random_graphs import adversarial_cliques, noisy_cliques, planted_partition

__all__ = [
    "adversarial_cliques",
    "lfr",
    "noisy_cliques",
    "overlapping_lfr",
    "planted_partition",
    "simulated_expression",
]
