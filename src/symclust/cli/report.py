"""`symclust report`: the page about a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from symclust.cli._answer import Outcome
from symclust.cli._output import PAGES, PANEL, aim
from symclust.cli._session import Work
from symclust.cli.describe import MODEL_HELP

__all__ = ["report"]


def report(
    model: Annotated[Path, typer.Argument(help=MODEL_HELP, show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The page, one .html file; by default beside the model.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Its heading.", metavar="TEXT")] = None,
    *,
    session: Work,
) -> None:
    """Write the page about a model.

    Example: `symclust report people.symclust -o people.html`
    """
    from symclust import load

    aim(session, report=(output or model.with_suffix(".html"), PAGES))
    fitted = load(model)
    session.begin_writing()
    Outcome(session, fitted, title=title or model.stem).write_page()
    session.finish(lambda: {"command": "report", "model": str(model)})
