"""Clustering of anything with pairwise similarities, by symmetric matrix factorization.

>>> from sklearn.datasets import load_digits
>>> from symclust import SymNMF
>>> labels = SymNMF(10, random_state=0).fit_predict(load_digits().data)
"""

from importlib.metadata import version

import lazy_loader

# The public names are in __init__.pyi. Each is imported when it is first used, so that ``import symclust``
# does not wait for scikit-learn, which takes a second.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = version("symclust")
