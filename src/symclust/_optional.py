"""Optional libraries: imported at the call, or an error with the extra that installs them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from symclust.exceptions import MissingExtraError


def need(library: str, extra: str, purpose: str = "This") -> ModuleType:
    """An optional library, one of an `extra`; if it is missing, the message says that `purpose` needs it."""
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
    """A sentence about a library that is not installed, with the command that installs it."""
    return f"{purpose} needs {library}, which is not installed: pip install 'symclust[{extra}]'"
