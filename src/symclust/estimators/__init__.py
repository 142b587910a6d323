"""The scikit-learn face, one class a file."""

from symclust.estimators.off_diagonal_sym_nmf import OffDiagonalSymNMF
from symclust.estimators.sym_nmf import SymNMF

__all__ = ["OffDiagonalSymNMF", "SymNMF"]
