"""Options that are names."""

from __future__ import annotations

from typing import Any

from symclust.exceptions import OptionError


def check_known(parameter: str, value: Any, known: tuple[str, ...], or_else: str = "") -> None:
    """Refuse a value that is not one of the `known` names."""
    if not isinstance(value, str) or value not in known:
        listed = ", ".join(map(repr, known))
        raise OptionError(f"{parameter}={value!r} is not known. Choose one of {listed}{or_else}.")
