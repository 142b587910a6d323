"""Clustering of anything with pairwise similarities, by symmetric matrix factorization.

>>> from sklearn.datasets import load_digits
>>> from symclust import SymNMF
>>> labels = SymNMF(10, random_state=0).fit_predict(load_digits().data)
"""

from importlib.metadata import version

import lazy_loader

# The public names are in __init__.pyi. Each is imported when it is first used, so that ``import symclust``
# does not wait for scikit-learn, which takes a second.
_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = version("symclust")


def __getattr__(name: str) -> object:
    if name in __all__:
        return _load(name)
    from difflib import get_close_matches

    known = {public.replace("_", "").lower(): public for public in __all__}
    near = get_close_matches(name.replace("_", "").lower(), known, 1)
    hint = f" Did you mean {known[near[0]]}?" if near else ""
    raise AttributeError(f"module 'symclust' has no attribute {name!r}.{hint}")
