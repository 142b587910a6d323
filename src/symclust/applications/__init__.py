"""From raw material to a readable answer."""

from symclust.applications.topic_tree import FlatTopics, TopicAssignment, TopicTree
from symclust.applications.topics import topics

__all__ = ["FlatTopics", "TopicAssignment", "TopicTree", "topics"]
