"""The application: every public file beside this one is a command of its name."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer
from rich.markup import escape

from symclust import registry
from symclust.cli._console import errors
from symclust.exceptions import SymclustError

__all__ = ["app", "run"]

app = typer.Typer(
    name="symclust",
    help="Cluster anything that has pairwise similarities, by symmetric matrix factorization.",
    epilog="Start with: symclust demo",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"symclust {version('symclust')}")
        raise typer.Exit


@app.callback()
def _symclust(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    pass


for _name in registry.options("cli"):
    app.command(_name.replace("_", "-"))(registry.resolve("cli", _name))


def run() -> None:
    """Run the application; a mistake of the user's ends in one message, not in a traceback."""
    try:
        app()
    except SymclustError as error:
        errors.print(f"[bold red]Error:[/bold red] {escape(str(error))}", soft_wrap=True)
        sys.exit(1)
