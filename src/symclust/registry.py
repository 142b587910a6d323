"""Find implementations by name.

An option is a name that a public file of its folder exports: ``solver="row_descent"`` is the class
``RowDescent`` in the ``__all__`` of a file in ``solvers/``, ``init="nndsvda"`` the class ``Nndsvda`` in one
of ``starts/``. Adding an option therefore means writing it and exporting it; error messages and contract
tests find it through this module. A class with a second name has it in its attribute `aliases`.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from types import ModuleType
from typing import Any, TypeAlias

from symclust.exceptions import OptionError

__all__ = [
    "options",
    "resolve",
]

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
    return _exports(family)[0]


def resolve(family: str, name: str, *others: str) -> Implementation:
    """Class or function behind an option; an unknown name is an error that lists the known ones.

    Parameters
    ----------
    family : str
        As in `options`.
    name : str
        An option, or an alias of one.
    *others : str
        Further values of the parameter, for the message.

    Examples
    --------
    >>> from symclust import registry
    >>> registry.resolve("solvers", "bpp").__name__, registry.resolve("two_factors.solvers", "anls").__name__
    ('Anls', 'Bpp')
    """
    found = _exports(family)[1]
    if not isinstance(name, str) or name not in found:
        parameter = family.rpartition(".")[2].removesuffix("s")
        known = ", ".join(map(repr, [*others, *options(family)]))
        raise OptionError(f"{parameter}={name!r} is not known. Choose one of {known}.")
    return found[name]


def option_name(name: str) -> str:
    """The option of an exported name, ``row_descent`` for ``RowDescent``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@cache
def _exports(family: str) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The options of a family, sorted, and what they and their aliases stand for."""
    found: dict[str, Any] = {}
    for module in _public_files(family):
        # Functions before classes: if both have the name, the class that does the work is the option.
        for name in sorted(getattr(module, "__all__", ()), key=lambda name: name != name.lower()):
            found[option_name(name)] = getattr(module, name)
    aliases = {alias: thing for thing in found.values() for alias in getattr(thing, "aliases", ())}
    return tuple(sorted(found)), found | aliases


def _public_files(family: str) -> list[ModuleType]:
    try:
        package = importlib.import_module(f"symclust.{family}")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("symclust"):  # a library that a file of ours needs
            raise
        raise OptionError(
            f"family={family!r} is neither a folder nor a file of symclust; 'solvers' and "
            "'hierarchy.topics.splits' are."
        ) from None
    if not hasattr(package, "__path__"):
        return [package]
    files = [file for file in pkgutil.iter_modules(package.__path__) if not file.name.startswith("_")]
    found = [_public_files(f"{family}.{file.name}") for file in files]
    return [module for modules in found for module in modules]
