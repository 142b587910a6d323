"""Clustering of anything with pairwise similarities, by symmetric matrix factorization.

>>> from sklearn.datasets import load_digits
>>> from symclust import SymNMF
>>> labels = SymNMF(10, random_state=0).fit_predict(load_digits().data)
"""

from importlib.metadata import version

from symclust import constraints, datasets, graphs, metrics, operators
from symclust.estimators import (
    Diana,
    DivisiveClustering,
    HierarchicalLeftStochastic,
    HierarchicalSymNMF,
    KernelConvexNMF,
    KernelKMeans,
    LeftStochastic,
    LinkageClustering,
    OffDiagonalSymNMF,
    SpectralNJW,
    SpectralUnnormalized,
    SpectralYuShi,
    SymmetricFactorization,
    SymNMF,
)

__version__ = version("symclust")

__all__ = [
    "Diana",
    "DivisiveClustering",
    "HierarchicalLeftStochastic",
    "HierarchicalSymNMF",
    "KernelConvexNMF",
    "KernelKMeans",
    "LeftStochastic",
    "LinkageClustering",
    "OffDiagonalSymNMF",
    "SpectralNJW",
    "SpectralUnnormalized",
    "SpectralYuShi",
    "SymNMF",
    "SymmetricFactorization",
    "constraints",
    "datasets",
    "graphs",
    "metrics",
    "operators",
]
