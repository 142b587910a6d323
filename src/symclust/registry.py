"""Find implementations by the name of their file.

An option's value is a file's name: ``solver="row_descent"`` is ``solvers/row_descent.py``. The file defines
one public object named after it: a class in CamelCase (``RowDescent``) or a function of the same name. Adding
an option therefore means adding a file; error messages and contract tests find it through this module.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from symclust.exceptions import OptionError

__all__ = ["options", "resolve"]


@cache
def options(family: str) -> tuple[str, ...]:
    """Names available in a family, sorted.

    Parameters
    ----------
    family : str
        A folder of the package, for example ``"solvers"`` or ``"two_factors.solvers"``.

    Examples
    --------
    >>> from symclust import registry
    >>> "row_descent" in registry.options("solvers")
    True
    """
    package = importlib.import_module(f"symclust.{family}")
    names = (module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(sorted(name for name in names if not name.startswith("_")))


@cache
def resolve(family: str, name: str) -> Any:
    """Return the class or function behind an option, or raise an error that lists the known ones."""
    if name not in options(family):
        parameter = family.rpartition(".")[2].removesuffix("s")
        known = ", ".join(repr(option) for option in options(family))
        raise OptionError(f"{parameter}={name!r} is not known. Choose one of {known}.")
    module = importlib.import_module(f"symclust.{family}.{name}")
    camel = "".join(part.capitalize() for part in name.split("_"))
    return getattr(module, camel, None) or getattr(module, name)
