"""From raw material to a readable answer."""

from symclust.applications.expression import Marker, SubtypeAssignment, Subtypes, subtypes
from symclust.applications.images import Region, Segmentation, segment_image
from symclust.applications.topics import NamedTopics, TopicAssignment, TopicTree, topics

__all__ = [
    "Marker",
    "NamedTopics",
    "Region",
    "Segmentation",
    "SubtypeAssignment",
    "Subtypes",
    "TopicAssignment",
    "TopicTree",
    "segment_image",
    "subtypes",
    "topics",
]
