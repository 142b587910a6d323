"""Names that a model file may hold: classes of ours whose attributes are restored, and two functions.

Nothing else that a file names is ever looked up, let alone imported.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

CLASSES = {
    "assign_labels": ("Argmax", "Kmeans", "Scaled"),
    "applications.expression._markers": ("Marker", "MarkerTable"),
    "applications.topics._refinement": ("RefinedTopics",),
    "applications.topics._topic": ("Example", "Topic"),
    "applications.expression.answer": ("Subtypes",),
    "applications.images.segmentation": ("Segmentation",),
    "applications.topics.topic_tree": ("FittedTopics", "NamedTopics", "TopicTree"),
    "constraints": ("L1", "Free", "Nonnegative", "OnePerRow", "Orthogonal", "Simplex", "Sparse", "Unit"),
    "documents": ("DocumentWeights",),
    "estimators": (
        *("Placement", "NMF", "AffineNMF", "Diana", "DivisiveClustering", "FlatTopics", "GraphNMF"),
        *("HierarchicalLeftStochastic", "HierarchicalNMF", "HierarchicalSymNMF", "KernelConvexNMF"),
        *("KernelKMeans", "LeftStochastic", "LinkageClustering", "OffDiagonalSymNMF", "SparseNMF"),
        *("SpectralNJW", "SpectralUnnormalized", "SpectralYuShi", "SphericalKMeans", "SymNMF"),
        "SymmetricFactorization",
    ),
    "estimators._data_factors": ("DataPlacer",),
    "inputs.placing": ("KnownRows", "LabelPlacer", "Placer"),
    "inputs.similarity": (*("Attributed", "Called", "Edges", "Given", "OfSamples", "Similarity", "Stepped"),),
    "inputs.table_plan": ("TablePlan",),
    "estimators.left_stochastic": ("SimplexPlacer",),
    "graphs": (
        *("AttributedSimilarity", "Cosine", "Fuzzy", "Gaussian", "MultiView", "NearestNeighbors"),
        *("NormalizedCut", "RandomWalk", "SelfTuning"),
    ),
    "graphs._copies": ("SampleSearch",),
    "graphs._neighbors": ("NeighborSearch",),
    "graphs._scaling": ("Scaling",),
    "graphs._smoothing": ("Evidence", "Smoother"),
    "graphs.attributed": ("FeatureSpace", "Walks"),
    "graphs.fuzzy": ("Fuzzy",),
    "graphs.multi_view": ("MultiView",),
    "hierarchy": ("Node", "Tree"),
    "hierarchy.communities.graph": ("Bisection",),
    "hierarchy.topics.splits": ("Halves",),
    "operators": ("Dense", "Gram", "LowRank", "Masked", "Shifted", "Sparse"),
    "operators._base": ("Restricted", "ScaledOperator"),
    "operators._factors": ("DenseFactor", "SparseFactor"),
    "selection": ("ConsensusMatrix", "Curve", "Selection"),
    "solvers": ("Result", "RowSolver"),
    "solvers._base": ("Point",),
    "starts": ("Start",),
    "two_factors": ("RowProblem",),
}
FUNCTIONS = {
    "selection": ("select_n_clusters",),
    "nnls": ("block_pivoting",),
}
# Folders that have another name in files than in the package: models on disk outlive the house.
IN_FILES = {"inputs": "estimators"}
FORMER = {
    "estimators.select_n_clusters": "selection.select_n_clusters",
    "applications.SubtypeAssignment": "estimators.Placement",
    "applications.TopicAssignment": "estimators.Placement",
    "operators.Scaled": "operators.ScaledOperator",
}


@cache
def allowed() -> dict[str, Any]:
    """Classes and functions by their names in files: the folder and their own.

    Which file of the folder they are in may change without notice to the models on disk.
    """
    found: dict[str, Any] = {}
    for module, names in [*CLASSES.items(), *FUNCTIONS.items()]:
        home = import_module(f"symclust.{module}")
        folder = module.partition(".")[0]
        found |= {f"{IN_FILES.get(folder, folder)}.{name}": getattr(home, name) for name in names}
    return found | {former: found[name] for former, name in FORMER.items()}


@cache
def _names() -> dict[Any, str]:
    return {thing: name for name, thing in allowed().items() if name not in FORMER}


def name_of(thing: Any) -> str | None:
    """The name of a class or function in files; None for one that they must not name."""
    return _names().get(thing)
