"""How good a clustering is, one measure a file; scikit-learn's own measures are used as they are."""

from symclust.metrics.clustering_accuracy import clustering_accuracy
from symclust.metrics.conditional_perplexity import conditional_perplexity
from symclust.metrics.factor_accuracy import factor_accuracy
from symclust.metrics.factor_sparseness import factor_sparseness
from symclust.metrics.membership_calibration import membership_calibration
from symclust.metrics.misclassification_rate import misclassification_rate
from symclust.metrics.nmi_by_level import nmi_by_level
from symclust.metrics.normalized_cut import normalized_cut
from symclust.metrics.topic_coherence import topic_coherence
from symclust.metrics.within_cluster_similarity import within_cluster_similarity

__all__ = [
    "clustering_accuracy",
    "conditional_perplexity",
    "factor_accuracy",
    "factor_sparseness",
    "membership_calibration",
    "misclassification_rate",
    "nmi_by_level",
    "normalized_cut",
    "topic_coherence",
    "within_cluster_similarity",
]
