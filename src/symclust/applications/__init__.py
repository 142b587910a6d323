"""From raw material to a readable answer."""

from symclust.applications.expression import Marker, Subtypes, subtypes
from symclust.applications.images import Region, Segmentation, segment_image
from symclust.applications.topics import NamedTopics, TopicTree, topics

__all__ = [
    "Marker",
    "NamedTopics",
    "Region",
    "Segmentation",
    "Subtypes",
    "TopicTree",
    "segment_image",
    "subtypes",
    "topics",
]
