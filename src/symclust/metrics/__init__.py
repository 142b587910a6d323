"""How good a clustering is, one measure a file; scikit-learn's own measures are used as they are."""

from symclust.metrics.clustering_accuracy import clustering_accuracy
from symclust.metrics.factor_accuracy import factor_accuracy

__all__ = ["clustering_accuracy", "factor_accuracy"]
