"""How many clusters? `select_n_clusters` uses a method of `methods/`, each a class with `choose(study)`."""

from symclust.selection._answer import Curve, Selection
from symclust.selection._consensus_matrix import ConsensusMatrix
from symclust.selection._data import Features, Pairs
from symclust.selection._method import Method
from symclust.selection._study import Progress, Study
from symclust.selection.select_n_clusters import choose_for, fit_chosen, select_n_clusters

__all__ = [
    "ConsensusMatrix",
    "Curve",
    "Features",
    "Method",
    "Pairs",
    "Selection",
    "Study",
    "select_n_clusters",
]
