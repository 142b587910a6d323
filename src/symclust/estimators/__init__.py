"""The scikit-learn face, one class a file."""

from symclust.estimators.off_diagonal_sym_nmf import OffDiagonalSymNMF
from symclust.estimators.sym_nmf import SymNMF
from symclust.estimators.symmetric_factorization import SymmetricFactorization

__all__ = ["OffDiagonalSymNMF", "SymNMF", "SymmetricFactorization"]
