"""The scikit-learn face: the classes people use."""

from symclust._labels import labels_of
from symclust.estimators._communities import sample_table
from symclust.estimators._confidence import Standing, by_shares
from symclust.estimators._fitted import Answer, Fitted, Placement, PlacingAnswer
from symclust.estimators.baselines.kernel_convex_nmf import KernelConvexNMF
from symclust.estimators.baselines.kernel_k_means import KernelKMeans
from symclust.estimators.baselines.linkage_clustering import LinkageClustering
from symclust.estimators.baselines.spectral import SpectralNJW, SpectralUnnormalized, SpectralYuShi
from symclust.estimators.baselines.spherical_k_means import SphericalKMeans
from symclust.estimators.divisive import Diana, DivisiveClustering
from symclust.estimators.hierarchical_nmf import FlatTopics, HierarchicalNMF, read_rows, refuse_to_save_blocks
from symclust.estimators.hierarchical_sym_nmf import HierarchicalSymNMF
from symclust.estimators.left_stochastic import HierarchicalLeftStochastic, LeftStochastic
from symclust.estimators.nmf import NMF, AffineNMF, GraphNMF, SparseNMF
from symclust.estimators.off_diagonal_sym_nmf import OffDiagonalSymNMF
from symclust.estimators.sym_nmf import SymNMF
from symclust.estimators.symmetric_factorization import SymmetricFactorization

__all__ = [
    "NMF",
    "AffineNMF",
    "Diana",
    "DivisiveClustering",
    "FlatTopics",
    "GraphNMF",
    "HierarchicalLeftStochastic",
    "HierarchicalNMF",
    "HierarchicalSymNMF",
    "KernelConvexNMF",
    "KernelKMeans",
    "LeftStochastic",
    "LinkageClustering",
    "OffDiagonalSymNMF",
    "Placement",
    "SparseNMF",
    "SpectralNJW",
    "SpectralUnnormalized",
    "SpectralYuShi",
    "SphericalKMeans",
    "SymNMF",
    "SymmetricFactorization",
]
