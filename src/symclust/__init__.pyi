from . import constraints, datasets, documents, graphs, metrics, operators
from ._annotate import annotate
from ._resume import resume
from .applications import segment_image, subtypes, topics
from .estimators import (
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
)
from .graphs import AttributedGraph, AttributedNodes
from .inputs import TablePlan
from .readers import read
from .selection import select_n_clusters
from .storage import Checkpoint, load

__version__: str

__all__ = [
    "NMF",
    "AffineNMF",
    "AttributedGraph",
    "AttributedNodes",
    "Checkpoint",
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
    "TablePlan",
    "annotate",
    "constraints",
    "datasets",
    "documents",
    "graphs",
    "load",
    "metrics",
    "operators",
    "read",
    "resume",
    "segment_image",
    "select_n_clusters",
    "subtypes",
    "topics",
]
