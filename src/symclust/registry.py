"""Find implementations by name.

An option is a name that a public file of its folder exports: ``solver="row_descent"`` is the class
``RowDescent`` in the ``__all__`` of a file in ``solvers/``, ``init="nndsvda"`` the function ``nndsvda``
in one of ``starts/``. Adding an option therefore means writing it and exporting it; error
messages and contract tests find it through this module.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from types import ModuleType
from typing import Any, TypeAlias

from symclust.exceptions import OptionError

__all__ = ["options", "resolve"]

Implementation: TypeAlias = Any
"""The class or function behind an option."""


def options(family: str) -> tuple[str, ...]:
    """Names available in a family, sorted.

    Parameters
    ----------
    family : str
        A folder or a file of the package, for example ``"solvers"`` or ``"two_factors.solvers"``.

    Examples
    --------
    >>> from symclust import registry
    >>> "row_descent" in registry.options("solvers")
    True
    """
    return tuple(sorted(_exports(family)))


def resolve(family: str, name: str) -> Implementation:
    """Return the class or function behind an option.

    Parameters
    ----------
    family, name : str
        The family as in `options`, and one of its options; others raise an error that lists them.
    """
    if name not in _exports(family):
        parameter = family.rpartition(".")[2].removesuffix("s")
        known = ", ".join(repr(option) for option in options(family))
        raise OptionError(f"{parameter}={name!r} is not known. Choose one of {known}.")
    return _exports(family)[name]


@cache
def _exports(family: str) -> dict[str, Any]:
    """Return what the public files of a family export, by its name as an option."""
    found: dict[str, Any] = {}
    for module in _public_files(family):
        # Functions before classes: where both have the name, the class that does the work is the option.
        for name in sorted(getattr(module, "__all__", ()), key=lambda name: name != name.lower()):
            found[_snake_case(name)] = getattr(module, name)
    return found


def _public_files(family: str) -> list[ModuleType]:
    package = importlib.import_module(f"symclust.{family}")
    if not hasattr(package, "__path__"):
        return [package]
    files = [file for file in pkgutil.iter_modules(package.__path__) if not file.name.startswith("_")]
    found = [_public_files(f"{family}.{file.name}") for file in files]
    return [module for modules in found for module in modules]


def _snake_case(name: str) -> str:
    """Return ``row_descent`` for ``RowDescent``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
