"""Clustering of anything with pairwise similarities, by symmetric matrix factorization.

>>> from sklearn.datasets import load_digits
>>> from symclust import SymNMF
>>> labels = SymNMF(10, random_state=0).fit_predict(load_digits().data)
"""

from importlib.metadata import version

from symclust import datasets, graphs, metrics, operators
from symclust.estimators import LeftStochastic, OffDiagonalSymNMF, SymNMF

__version__ = version("symclust")

__all__ = ["LeftStochastic", "OffDiagonalSymNMF", "SymNMF", "datasets", "graphs", "metrics", "operators"]
