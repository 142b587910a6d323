"""Optional libraries: imported at the call, or an error with the extra that installs them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from symclust.exceptions import MissingExtraError


def need(library: str, extra: str, purpose: str = "This") -> ModuleType:
    """An optional library; a missing one is a `MissingExtraError`.

    Parameters
    ----------
    library : str
        Name of the module, with dots for one inside a library.
    extra : str
        The extra of symclust that installs it.
    purpose : str
        Subject of the error message: the call, option or file that needs the library.

    Examples
    --------
    >>> from symclust._optional import need
    >>> need("json", "tables").dumps([1])
    '[1]'
    >>> try:
    ...     need("pandaz", "tables", "A table")
    ... except ImportError as error:
    ...     print(error)
    A table needs pandaz, which is not installed: pip install 'symclust[tables]'
    """
    try:
        return import_module(library)
    except ModuleNotFoundError as error:  # a library that is there and broken has an error of its own
        raise MissingExtraError(missing(error.name or library, extra, purpose)) from error


class Lazy:
    """An optional library that is imported when it is first used, as a global name of a file."""

    def __init__(self, library: str, extra: str, purpose: str = "This") -> None:
        self._needed = library, extra, purpose

    def __getattr__(self, name: str) -> Any:
        return getattr(need(*self._needed), name)


def missing(library: str, extra: str, purpose: str = "This") -> str:
    """Sentence that a library is not installed, and the command that installs it."""
    return f"{purpose} needs {library}, which is not installed: pip install 'symclust[{extra}]'"
