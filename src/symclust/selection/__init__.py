"""How many clusters? Each method is a class with `choose(study)`, found by its name in the registry."""

from symclust.selection._answer import Curve, Selection
from symclust.selection._consensus_matrix import ConsensusMatrix
from symclust.selection._data import Data, Features, Pairs
from symclust.selection._method import Method
from symclust.selection._study import Progress, Study

__all__ = ["ConsensusMatrix", "Curve", "Data", "Features", "Method", "Pairs", "Progress", "Selection", "Study"]
