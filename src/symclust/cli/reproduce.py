"""`symclust reproduce`: the experiments of the papers, from a checkout of the project."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from symclust.cli._console import screen
from symclust.cli._session import INTERRUPTED, Session
from symclust.exceptions import InputError, OptionError

__all__ = ["reproduce"]

FOLDER = Path("benchmarks") / "papers"


def reproduce(
    table: Annotated[
        str | None,
        typer.Argument(
            help="What to reproduce; without a name, what there is is listed.", show_default=False
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Folder with the labelled data sets; SYMCLUST_DATA unless told.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    *,
    session: Session,
) -> None:
    """Repeat the tables and figures of the papers, and put ours beside theirs.

    The experiments are scripts in the folder `benchmarks/papers` of the source code, not of the installed
    package: run this in a checkout. Tables are printed and kept in `benchmarks/results`. Some take hours.

    Example: `symclust reproduce cliques`
    """
    checkout = _checkout()
    known = _experiments(checkout / FOLDER)
    if table is None:
        _list(session, known)
        session.finish(lambda: {"command": "reproduce", "checkout": checkout, "experiments": known})
        return
    name = table.replace("-", "_")
    if name not in known:
        raise OptionError(f"There is no experiment {table!r}. Choose one of {', '.join(known)}.")
    session.note(
        f"Running {checkout / FOLDER / name}.py; results go to {checkout / 'benchmarks' / 'results'}"
    )
    code = _run(checkout, name, data, session)
    if code:
        raise typer.Exit(code)
    results = checkout / "benchmarks" / "results"
    session.finish(lambda: {"command": "reproduce", "experiment": name, "results": results})


def _checkout() -> Path:
    """The folder of the project's source code, here or above."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / FOLDER / "__main__.py").is_file() and (folder / "src" / "symclust").is_dir():
            return folder
    raise InputError(
        f"{here} is no checkout of symclust. The experiments are scripts in {FOLDER}, which come with the "
        "source code and not with the installed package: get the source code, and run this in its folder."
    )


def _experiments(folder: Path) -> dict[str, str]:
    """The names of the experiments, and the first sentence each says of itself."""
    found = {}
    for path in sorted(folder.glob("[!_]*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found[path.stem] = text.partition("\n")[0].rstrip(".")
    return found


def _list(session: Session, known: dict[str, str]) -> None:
    if session.shows_answer:
        table = Table(box=None, header_style="dim", pad_edge=False)
        table.add_column("experiment", style="bold", no_wrap=True)
        table.add_column("what it repeats")
        for name, text in known.items():
            table.add_row(name.replace("_", "-"), Text(text))
        screen.print(table)


def _run(checkout: Path, name: str, data: Path | None, session: Session) -> int:
    """Run an experiment in a process of its own, which prints for itself; return its exit code."""
    environment = dict(os.environ)
    if data is not None:
        environment["SYMCLUST_DATA"] = str(data.resolve())
    command = [sys.executable, "-m", "benchmarks.papers", name]
    with subprocess.Popen(
        command, cwd=checkout, env=environment, stdout=sys.stderr if session.as_json else None
    ) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:  # which the terminal has sent to both
            process.wait()
            return INTERRUPTED
