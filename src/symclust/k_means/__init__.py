"""k-means in three kinds, shared by trees, topics and estimators.

===================  =======================================================================================
`plain_k_means`      scikit-learn's k-means, on one thread
`both_phases`        the same, and then samples one by one; `online_phase` is that phase alone
`SphericalRuns`      k-means by cosines, many starts side by side; `scattered_samples` gives the first centres
`KernelRuns`         weighted kernel k-means, many starts side by side; `first_labels` gives the first labels
`merges`             the merges of clusters to a single one, `uneven_merges` those by another loss
===================  =======================================================================================
"""

from symclust.k_means.kernel import KERNEL_INITS, KernelRuns, first_labels
from symclust.k_means.merging import Merge, joined, merges, uneven_merges
from symclust.k_means.plain import both_phases, online_phase, plain_k_means, read_weights
from symclust.k_means.spherical import SphericalRun, SphericalRuns, opposite_samples, scattered_samples
