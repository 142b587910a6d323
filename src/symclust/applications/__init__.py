"""From raw material to a readable answer."""

from symclust.applications._markers import Marker
from symclust.applications.segment_image import segment_image
from symclust.applications.segmentation import Region, Segmentation
from symclust.applications.subtypes import subtypes
from symclust.applications.subtypes_answer import SubtypeAssignment, Subtypes
from symclust.applications.topic_tree import NamedTopics, TopicAssignment, TopicTree
from symclust.applications.topics import topics

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
