"""The algorithms of the methods that symclust is compared with, below the estimators that offer them.

================  ==========================================================================================
`KernelRuns`      weighted kernel k-means, many starts side by side; `first_labels` says where they start
`make_definite`   a similarity made positive semidefinite, as methods that need inner products want it
`ConvexDescent`   the updates of kernel convex NMF
`SphericalRuns`   k-means by cosines, many starts side by side; `scattered_samples` says where they start
`k_means`         scikit-learn's k-means, on one thread
`embedded_rows`   rows of leading eigenvectors; `discretize` is Yu and Shi's way from them to clusters
`merge_clusters`  agglomerative clustering by SciPy, also of sparse similarities
================  ==========================================================================================
"""

from symclust.baselines._k_means import k_means
from symclust.baselines.convex_nmf import ConvexDescent, SignedParts
from symclust.baselines.definite import INDEFINITE, make_definite
from symclust.baselines.kernel_k_means import KERNEL_INITS, KernelRun, KernelRuns, first_labels
from symclust.baselines.linkage import cut_merges, merge_clusters
from symclust.baselines.spectral import discretize, embedded_rows
from symclust.baselines.spherical_k_means import (
    SphericalRun,
    SphericalRuns,
    opposite_samples,
    scattered_samples,
)

__all__ = [
    "INDEFINITE",
    "KERNEL_INITS",
    "ConvexDescent",
    "KernelRun",
    "KernelRuns",
    "SignedParts",
    "SphericalRun",
    "SphericalRuns",
    "cut_merges",
    "discretize",
    "embedded_rows",
    "first_labels",
    "k_means",
    "make_definite",
    "merge_clusters",
    "opposite_samples",
    "scattered_samples",
]
