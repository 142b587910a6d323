"""From an image to its regions."""

from symclust.applications.images.segment_image import segment_image
from symclust.applications.images.segmentation import Region, Segmentation

__all__ = ["Region", "Segmentation", "segment_image"]
