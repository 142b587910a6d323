"""Commands that take groups of options as dataclasses; typer sees one option per field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

from symclust.cli._session import Session

__all__ = ["as_command"]


def as_command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function for typer that runs a command inside its session.

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
