"""The algorithms of the methods that symclust is compared with, below the estimators that offer them.

===================  ===========================================================================
`k_means`            scikit-learn's k-means, on one thread
`SphericalRuns`      k-means by cosines, many starts side by side
===================  ===========================================================================
"""

from symclust.baselines.k_means import k_means
from symclust.baselines.spherical_k_means import (
    SphericalRun,
    SphericalRuns,
    opposite_samples,
    scattered_samples,
)

__all__ = ["SphericalRun", "SphericalRuns", "k_means", "opposite_samples", "scattered_samples"]
