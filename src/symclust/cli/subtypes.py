"""`symclust subtypes`: subtypes of samples by their gene expression."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

import symclust
from symclust.cli._answer import Outcome, finish
from symclust.cli._input import FILE_HELP, SampleOptions, read_input
from symclust.cli._methods import number_of
from symclust.cli._output import PANEL, TABLES, ToFiles, write_table
from symclust.cli._session import Work

__all__ = ["subtypes"]

Orientation = Literal["auto", "samples", "genes"]


def subtypes(
    file: Annotated[Path, typer.Argument(help=FILE_HELP, allow_dash=True, show_default=False)],
    n_subtypes: Annotated[
        str,
        typer.Option(
            "--subtypes",
            "-k",
            help="How many subtypes, or auto to choose.",
            callback=number_of,
            metavar="K|auto",
        ),
    ] = "auto",
    orientation: Annotated[
        Orientation, typer.Option("--orientation", help="What the rows are; by default guessed.")
    ] = "auto",
    genes: Annotated[
        int, typer.Option("--genes", min=1, help="How many genes to cluster by: those that vary most.")
    ] = 5000,
    layer: Annotated[
        str | None, typer.Option("--layer", help="Layer of an .h5ad file, or raw.", metavar="NAME")
    ] = None,
    markers: Annotated[
        Path | None,
        typer.Option("--markers", help="Table with all marker genes.", rich_help_panel=PANEL),
    ] = None,
    *,
    reading: SampleOptions,
    to: ToFiles,
    session: Work,
) -> None:
    """Find subtypes of samples by their gene expression, and the genes that mark them.

    Example: `symclust subtypes expression.csv --markers markers.csv --report subtypes.html`
    """
    to.check(session, markers=(markers, TABLES))
    found = read_input(session, file, reading, ("expression", "features"))
    with session.progress("Finding subtypes") as bar:
        answer = symclust.subtypes(
            found.data,
            n_subtypes,
            orientation=orientation,
            n_genes=genes,
            layer=layer,
            random_state=session.seed,
            callback=bar.steps,
        )
    session.begin_writing()
    for note in answer.notes:
        session.note(note)
    written = Outcome(session, answer, answer.node_names_, f"Subtypes in {file.name}")
    session.write("markers", lambda path: write_table(path, answer.markers_dataframe()))
    finish(written, to, {"command": "subtypes", "file": str(file), "notes": found.notes + answer.notes})
