"""From raw material to a readable answer."""

from symclust.applications.topic_tree import NamedTopics, TopicAssignment, TopicTree
from symclust.applications.topics import topics

__all__ = ["NamedTopics", "TopicAssignment", "TopicTree", "topics"]
