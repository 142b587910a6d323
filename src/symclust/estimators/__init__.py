"""The scikit-learn face, one class a file."""

from symclust.estimators.left_stochastic import LeftStochastic
from symclust.estimators.sym_nmf import SymNMF

__all__ = ["LeftStochastic", "SymNMF"]
