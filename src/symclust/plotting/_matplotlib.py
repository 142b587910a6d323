"""Matplotlib, imported when the first picture is drawn, or the words said when it is absent."""

from __future__ import annotations

import importlib
from types import ModuleType

from symclust.exceptions import MissingExtraError

__all__ = ["matplotlib_module"]


def matplotlib_module(name: str = "pyplot") -> ModuleType:
    """Return ``matplotlib.<name>``, or raise an error that names the extra."""
    try:
        return importlib.import_module(f"matplotlib.{name}")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            'Pictures need matplotlib, which is not installed: pip install "symclust[plot]"'
        ) from error
