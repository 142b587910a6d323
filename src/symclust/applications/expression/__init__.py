"""From gene expression to subtypes of the samples."""

from symclust.applications.expression._markers import Marker
from symclust.applications.expression.answer import Subtypes
from symclust.applications.expression.subtypes import subtypes

__all__ = ["Marker", "Subtypes", "subtypes"]
