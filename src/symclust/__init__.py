"""Clustering of anything with pairwise similarities, by symmetric matrix factorization.

>>> from sklearn.datasets import load_digits
>>> from symclust import SymNMF
>>> labels = SymNMF(10, random_state=0).fit_predict(load_digits().data)
"""

from importlib.metadata import version

from symclust import constraints, datasets, documents, graphs, metrics, operators
from symclust.applications import segment_image, subtypes, topics
from symclust.estimators import (
    NMF,
    AffineNMF,
    Diana,
    DivisiveClustering,
    GraphNMF,
    HierarchicalLeftStochastic,
    HierarchicalNMF,
    HierarchicalSymNMF,
    KernelConvexNMF,
    KernelKMeans,
    LeftStochastic,
    LinkageClustering,
    OffDiagonalSymNMF,
    SparseNMF,
    SpectralNJW,
    SpectralUnnormalized,
    SpectralYuShi,
    SphericalKMeans,
    SymmetricFactorization,
    SymNMF,
    select_n_clusters,
)
from symclust.graphs import AttributedGraph, AttributedNodes
from symclust.readers import read
from symclust.storage import load

__version__ = version("symclust")

__all__ = [
    "NMF",
    "AffineNMF",
    "AttributedGraph",
    "AttributedNodes",
    "Diana",
    "DivisiveClustering",
    "GraphNMF",
    "HierarchicalLeftStochastic",
    "HierarchicalNMF",
    "HierarchicalSymNMF",
    "KernelConvexNMF",
    "KernelKMeans",
    "LeftStochastic",
    "LinkageClustering",
    "OffDiagonalSymNMF",
    "SparseNMF",
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
    "load",
    "metrics",
    "operators",
    "read",
    "segment_image",
    "select_n_clusters",
    "subtypes",
    "topics",
]
