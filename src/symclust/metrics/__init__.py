"""How good a clustering is; scikit-learn's own measures are used as they are."""

from symclust.metrics.consensus import average_entropy, cophenetic_correlation
from symclust.metrics.cross_views import cross_view_agreement
from symclust.metrics.factors import factor_accuracy, factor_sparseness
from symclust.metrics.known_classes import (
    clustering_accuracy,
    conditional_perplexity,
    membership_calibration,
    nmi_by_level,
)
from symclust.metrics.overlapping import overlapping_f1, overlapping_nmi
from symclust.metrics.segmentations import (
    BoundaryCurve,
    boundary_f_measure,
    boundary_map,
    boundary_precision_recall,
    human_boundary_agreement,
    region_covering,
    variation_of_information,
)
from symclust.metrics.similarities import average_normalized_cut, within_cluster_similarity
from symclust.metrics.topic_coherence import coherence_of_counts, topic_coherence

__all__ = [
    "BoundaryCurve",
    "average_entropy",
    "average_normalized_cut",
    "boundary_f_measure",
    "boundary_map",
    "boundary_precision_recall",
    "clustering_accuracy",
    "coherence_of_counts",
    "conditional_perplexity",
    "cophenetic_correlation",
    "cross_view_agreement",
    "factor_accuracy",
    "factor_sparseness",
    "human_boundary_agreement",
    "membership_calibration",
    "nmi_by_level",
    "overlapping_f1",
    "overlapping_nmi",
    "region_covering",
    "topic_coherence",
    "variation_of_information",
    "within_cluster_similarity",
]
