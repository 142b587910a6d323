"""`symclust describe`: what the clusters of a saved model are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from symclust.cli._answer import Outcome, show_findings, summary_of
from symclust.cli._input import SampleOptions, read_input
from symclust.cli._output import PANEL, TABLES, aim, write_table
from symclust.cli._session import Work

__all__ = ["describe"]

MODEL_HELP = "A model that --model of another command, or save in Python, has written."


def describe(
    model: Annotated[Path, typer.Argument(help=MODEL_HELP, show_default=False)],
    file: Annotated[
        Path | None,
        typer.Argument(help="The same samples with other columns, to describe the clusters by."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Table with one row per cluster: .csv, .tsv, .parquet or .json.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    *,
    reading: SampleOptions,
    session: Work,
) -> None:
    """Say what the clusters of a model are: names, sizes, and what sets each apart.

    Example: `symclust describe people.symclust -o clusters.csv`
    """
    from symclust import load

    aim(session, table=(output, TABLES))
    fitted = load(model)
    kinds = ("features", "expression")
    data = None if file is None else read_input(session, file, reading, kinds).data
    found = fitted.describe(data)
    session.begin_writing()
    answer = Outcome(session, fitted)
    show_findings(answer, description=found)
    session.write("table", lambda path: write_table(path, found.to_dataframe().reset_index()))
    session.finish(lambda: {"command": "describe", "model": str(model), **summary_of(answer, found)})
