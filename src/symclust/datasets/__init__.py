"""Data with known clusters, made on the spot; one generator a file."""

from symclust.datasets.adversarial_cliques import adversarial_cliques
from symclust.datasets.noisy_cliques import noisy_cliques
from symclust.datasets.overlapping_blobs import overlapping_blobs
from symclust.datasets.planted_partition import planted_partition

__all__ = ["adversarial_cliques", "noisy_cliques", "overlapping_blobs", "planted_partition"]
