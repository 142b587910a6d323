"""Where the commands draw."""

from __future__ import annotations

from rich.console import Console

__all__ = ["errors", "screen"]

screen = Console(highlight=False)
errors = Console(stderr=True, highlight=False)
