"""What a model file may name: classes of ours whose attributes are restored, and functions they refer to.

Nothing else that a file names is ever looked up, let alone imported.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["METHODS", "allowed", "name_of"]

CLASSES = {
    "applications._markers": ("Marker", "MarkerTable"),
    "applications._refinement": ("RefinedTopics",),
    "applications._topic": ("Example", "Topic"),
    "applications.subtypes_answer": ("SubtypeAssignment", "Subtypes"),
    "applications.topic_tree": ("FittedTopics", "NamedTopics", "TopicAssignment", "TopicTree"),
    "constraints": ("L1", "Free", "Nonnegative", "OnePerRow", "Orthogonal", "Simplex", "Sparse", "Unit"),
    "documents": ("DocumentWeights",),
    "estimators": (
        *("NMF", "AffineNMF", "Diana", "DivisiveClustering", "FlatTopics", "GraphNMF"),
        *("HierarchicalLeftStochastic", "HierarchicalNMF", "HierarchicalSymNMF", "KernelConvexNMF"),
        *("KernelKMeans", "LeftStochastic", "LinkageClustering", "OffDiagonalSymNMF", "SparseNMF"),
        *("SpectralNJW", "SpectralUnnormalized", "SpectralYuShi", "SphericalKMeans", "SymNMF"),
        "SymmetricFactorization",
    ),
    "estimators._data_factors": ("DataPlacer",),
    "estimators._input": ("Similarity",),
    "estimators._placing": ("KnownRows", "LabelPlacer", "Placer"),
    "estimators.left_stochastic": ("SimplexPlacer",),
    "graphs": (
        *("AttributedSimilarity", "Cosine", "Gaussian", "NearestNeighbors", "NormalizedCut", "RandomWalk"),
        "SelfTuning",
    ),
    "graphs._copies": ("SampleSearch",),
    "graphs._neighbors": ("NeighborSearch",),
    "graphs._smoothing": ("Evidence", "Smoother"),
    "graphs.attributed": ("FeatureSpace", "Walks"),
    "hierarchy": ("Node", "Tree"),
    "hierarchy.leaf_graph": ("Bisection",),
    "hierarchy.splits": ("Halves",),
    "operators": ("Dense", "Gram", "LowRank", "Masked", "Shifted", "Sparse"),
    "operators._base": ("Restricted", "Scaled"),
    "operators._factors": ("DenseFactor", "SparseFactor"),
    "selection": ("ConsensusMatrix", "Curve", "Selection"),
    "solvers": ("Result", "Start"),
    "solvers._sets": ("RowSolver",),
    "solvers.projected_gradient": ("Point",),
    "two_factors": ("RowProblem",),
}
FUNCTIONS = {
    "estimators": ("select_n_clusters",),
    "estimators._input": (
        *("_as_edges", "_extend_attributed", "_extend_step", "_grow_edges", "_grow_given"),
        *("_grow_samples", "_grow_step", "_matrix_of", "_read_new_nodes", "as_given"),
    ),
    "nnls": ("block_pivoting",),
}
METHODS = ("extend",)  # of affinities


@cache
def allowed() -> dict[str, Any]:
    """Return classes and functions by their names in files: the folder and their own.

    Which file of the folder they are in may change without notice to the models on disk.
    """
    found: dict[str, Any] = {}
    for module, names in [*CLASSES.items(), *FUNCTIONS.items()]:
        home = import_module(f"symclust.{module}")
        found |= {f"{module.partition('.')[0]}.{name}": getattr(home, name) for name in names}
    return found


@cache
def _names() -> dict[Any, str]:
    return {thing: name for name, thing in allowed().items()}


def name_of(thing: Any) -> str | None:
    """Return the name of a class or function in files; None for one that they must not name."""
    return _names().get(thing)
