"""A collection of documents that every installation has: the docstrings of scientific packages."""

from __future__ import annotations

import importlib
import inspect
import re
from types import ModuleType

# Public modules whose names are documented one by one. Most of them are loaded with symclust already.
MODULES = (
    "numpy", "numpy.fft", "numpy.linalg", "numpy.polynomial", "numpy.random",
    "scipy.cluster.hierarchy", "scipy.fft", "scipy.integrate", "scipy.interpolate", "scipy.linalg",
    "scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.sparse", "scipy.sparse.csgraph",
    "scipy.sparse.linalg", "scipy.spatial", "scipy.spatial.distance", "scipy.special", "scipy.stats",
    "sklearn.cluster", "sklearn.covariance", "sklearn.datasets", "sklearn.decomposition", "sklearn.ensemble",
    "sklearn.feature_extraction.text", "sklearn.feature_selection", "sklearn.gaussian_process",
    "sklearn.impute",
    "sklearn.linear_model", "sklearn.manifold", "sklearn.metrics", "sklearn.model_selection",
    "sklearn.naive_bayes", "sklearn.neighbors", "sklearn.neural_network", "sklearn.preprocessing",
    "sklearn.svm", "sklearn.tree",
)  # fmt: skip
SHORTEST = 120  # characters of a docstring that says something
# Examples, references and notes say the same of much that has nothing in common.
END = re.compile(r"\n(Notes|See Also|Examples|References|Raises|Warns|Other Parameters)\n-{3,}")


def docstrings() -> dict[str, str]:
    """Docstrings of public functions and classes by their full names, without examples and references.

    Each text is there once, under the first name it is found by.
    """
    found: dict[str, str] = {}
    seen: set[str] = set()
    for name in MODULES:
        for member, text in _of_module(importlib.import_module(name)):
            if text not in seen:
                seen.add(text)
                found[f"{name}.{member}"] = text
    return found


def _of_module(module: ModuleType) -> list[tuple[str, str]]:
    names = [name for name in getattr(module, "__all__", dir(module)) if not name.startswith("_")]
    things = [(name, vars(module).get(name)) for name in sorted(names)]
    texts = [
        (name, END.split(inspect.getdoc(thing) or "")[0]) for name, thing in things if _is_documented(thing)
    ]
    return [(name, text) for name, text in texts if len(text) >= SHORTEST]


def _is_documented(thing: object) -> bool:
    """Whether it is a function or a class: other objects have the text of their class."""
    return callable(thing) and hasattr(thing, "__name__") and not isinstance(thing, ModuleType)
