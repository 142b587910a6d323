"""Clusters in words: a name for each, and what sets it apart from the others.

The words come from the first kind of `Evidence` that there is; an answer of an application brings its own.
"""

from symclust.describe._describing import are_words, describe_clusters
from symclust.describe.description import ClusterDescription, Description, Trait
from symclust.describe.evidence import Found

# The other names above are for other folders, and no part of the API.
__all__ = [
    "ClusterDescription",
    "Description",
    "Trait",
]
