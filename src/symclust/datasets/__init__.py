"""Data with known clusters, made on the spot."""

from symclust.datasets.overlapping_blobs import overlapping_blobs
from symclust.datasets.random_graphs import adversarial_cliques, noisy_cliques, planted_partition

__all__ = ["adversarial_cliques", "noisy_cliques", "overlapping_blobs", "planted_partition"]
