"""From documents to a tree of topics."""

from symclust.applications.topics.topic_tree import NamedTopics, TopicTree
from symclust.applications.topics.topics import topics

__all__ = ["NamedTopics", "TopicTree", "topics"]
