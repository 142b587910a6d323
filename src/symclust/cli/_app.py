"""The application: every public file beside this one is a command of its name."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from symclust import registry
from symclust.cli._groups import as_command

__all__ = ["app", "run"]

app = typer.Typer(
    name="symclust",
    help="Cluster anything that has pairwise similarities, by symmetric matrix factorization.",
    epilog="Start with: symclust demo. Exit codes: 0 all went well, 1 the input cannot be used or something "
    "failed, 2 the command was called wrongly, 130 interrupted by Ctrl-C (what was found is written).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
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
    app.command(_name.replace("_", "-"))(as_command(registry.resolve("cli", _name)))


def run() -> None:
    """Run the application."""
    app(prog_name="symclust")
