"""The scikit-learn face, one class a file."""

from symclust.estimators.sym_nmf import SymNMF

__all__ = ["SymNMF"]
