"""The `symclust` command: one file per command. The only folder that imports typer and rich."""

from __future__ import annotations

import sys

from symclust._optional import missing
from symclust.cli._interrupts import interrupts


def main() -> None:
    """Run the command line; say how to install its libraries where they are missing."""
    interrupts.take_over()
    try:
        from symclust.cli._app import run
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in ("typer", "rich"):
            raise
        sys.exit(missing(library, "cli", "The command"))
    run()
