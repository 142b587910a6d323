"""Clustering of anything with pairwise similarities, by symmetric matrix factorization.

>>> from sklearn.datasets import load_digits
>>> from symclust import SymNMF
>>> labels = SymNMF(10, random_state=0).fit_predict(load_digits().data)
"""

from importlib.metadata import version

from symclust import constraints, datasets, documents, graphs, metrics, operators
from symclust.estimators import (
    Diana,
    DivisiveClustering,
    HierarchicalLeftStochastic,
    KernelConvexNMF,
    KernelKMeans,
    LeftStochastic,
    LinkageClustering,
    OffDiagonalSymNMF,
    SpectralNJW,
    SpectralUnnormalized,
    SpectralYuShi,
    SphericalKMeans,
    SymmetricFactorization,
    SymNMF,
)

__version__ = version("symclust")

__all__ = [
    "Diana",
    "DivisiveClustering",
    "HierarchicalLeftStochastic",
    "KernelConvexNMF",
    "KernelKMeans",
    "LeftStochastic",
    "LinkageClustering",
    "OffDiagonalSymNMF",
    "SpectralNJW",
    "SpectralUnnormalized",
    "SpectralYuShi",
    "SphericalKMeans",
    "SymNMF",
    "SymmetricFactorization",
    "constraints",
    "datasets",
    "documents",
    "graphs",
    "metrics",
    "operators",
]
