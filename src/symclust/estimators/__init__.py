"""The scikit-learn face, one class a file."""

from symclust.estimators.left_stochastic import LeftStochastic
from symclust.estimators.off_diagonal_sym_nmf import OffDiagonalSymNMF
from symclust.estimators.sym_nmf import SymNMF

__all__ = ["LeftStochastic", "OffDiagonalSymNMF", "SymNMF"]
