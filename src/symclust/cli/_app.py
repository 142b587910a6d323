"""The application: every public file beside this one is a command of its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from importlib.metadata import version
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from symclust import registry
from symclust.cli._session import Session


class _FlagsAsFlags:
    """A command, or the group of all, whose help shows flags without a type."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in params:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return params


class _Command(_FlagsAsFlags, TyperCommand):
    pass


class _Group(_FlagsAsFlags, TyperGroup):
    pass


app = typer.Typer(
    name="symclust",
    cls=_Group,
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


def as_command(function: Callable[..., None]) -> Callable[..., None]:
    """A function for typer that runs a command inside its session.

    Parameters whose type is a dataclass become one option per field of it, so that commands share options
    without repeating them. The one that is a `Session` turns warnings, errors and Ctrl-C into lines and exit
    codes.
    """
    hints = get_type_hints(function, include_extras=True)
    groups = {name: hints[name] for name in signature(function).parameters if is_dataclass(hints[name])}
    parameters: list[Parameter] = []
    for name, parameter in signature(function).parameters.items():
        own = parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)
        parameters += _of_group(groups[name]) if name in groups else [own]

    @wraps(function)
    def command(**values: Any) -> None:
        made = {
            name: group(**{p.name: values.pop(p.name) for p in _of_group(group)})
            for name, group in groups.items()
        }
        session = next(group for group in made.values() if isinstance(group, Session))
        session.run(lambda: function(**values, **made))

    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _of_group(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            entry.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if entry.default is MISSING else entry.default,
            annotation=hints[entry.name],
        )
        for entry in fields(group)
        if entry.init
    ]


for _name in registry.options("cli"):
    app.command(_name.replace("_", "-"), cls=_Command)(as_command(registry.resolve("cli", _name)))


def run() -> None:
    """Run the application."""
    app(prog_name="symclust")
