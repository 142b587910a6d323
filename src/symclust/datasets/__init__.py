"""Data with known clusters, made on the spot; one generator a file."""

from symclust.datasets.overlapping_blobs import overlapping_blobs
from symclust.datasets.planted_partition import planted_partition

__all__ = ["overlapping_blobs", "planted_partition"]
