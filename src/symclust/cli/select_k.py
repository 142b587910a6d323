"""`symclust select-k`: how many clusters there are."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from symclust.cli._answer import Outcome
from symclust.cli._checkpoint import Resumable
from symclust.cli._console import as_options, screen
from symclust.cli._input import FILE_HELP, SampleOptions, plan_table, read_input
from symclust.cli._methods import MethodName, make_model
from symclust.cli._output import PAGES, PANEL, TABLES, ToPage, aim, write_table
from symclust.cli._session import Work

__all__ = ["select_k"]

BAR, ROWS = 12, 10


Rule = Literal[
    "auto",
    "gps",
    "prediction_strength",
    "gap",
    "consensus",
    "cross_validation",
]


def candidates_of(value: str | None) -> Any:
    """The numbers that "2-10" or "2,4,8" stands for; None for nothing."""
    if value is None:
        return None
    numbers: set[int] = set()
    for part in value.split(","):
        found = re.fullmatch(r"\s*(\d+)\s*(?:(?:-|\.\.|:)\s*(\d+)\s*)?", part)
        if not found:
            raise typer.BadParameter(f"{value!r} is not understood: write 2-10, or 2,4,8.")
        numbers.update(range(int(found[1]), int(found[2] or found[1]) + 1))
    if not numbers or min(numbers) < 2:
        raise typer.BadParameter(f"{value!r} has to hold numbers from 2 on.")
    return tuple(sorted(numbers))


def select_k(
    file: Annotated[Path, typer.Argument(help=FILE_HELP, allow_dash=True, show_default=False)],
    candidates: Annotated[
        str | None,
        typer.Option(
            "--candidates",
            "-c",
            help="Numbers to try: 2-10, or 2,4,8. By default all with auto, 2-10 with other methods.",
            callback=candidates_of,
            metavar="LIST",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        Rule,
        typer.Option(
            "--method",
            "-m",
            help="auto takes seconds; gps compares with data without clusters, and takes minutes.",
        ),
    ] = "auto",
    estimator: Annotated[MethodName, typer.Option("--estimator", help="What finds the clusters.")] = "tree",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Table with one row per number: .csv, .tsv, .parquet or .json.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    *,
    reading: SampleOptions,
    to: ToPage,
    resumable: Resumable,
    session: Work,
) -> None:
    """Say how many clusters there are, with the evidence.

    Ctrl-C keeps the answer that the evidence until then gives, if there is one, and exits with code 130.

    Example: `symclust select-k people.csv --candidates 2-15 --method gps --report choice.html`
    """
    from symclust import select_n_clusters

    aim(session, table=(output, TABLES), report=(to.report, PAGES))
    found = read_input(session, file, reading, ("features", "similarity", "graph", "expression"))
    model = make_model(estimator, 2, session.seed)
    data = plan_table(session, model, found.data)
    with session.progress("Comparing numbers of clusters") as bar:
        options: Any = {"candidates": candidates, "method": method, "random_state": session.seed}
        choose = partial(select_n_clusters, data, model, **options)
        with resumable.kept(session, select_n_clusters, {"estimator": model, **options, "callback": None}):
            answer = session.best_so_far(bar, choose)
    session.begin_writing()
    _show(session, answer)
    written = Outcome(session, answer, title=f"How many clusters are in {file.name}?")
    session.write("table", lambda path: write_table(path, answer.to_dataframe()))
    written.write_page()
    scores = {name: curve.values for name, curve in answer.curves.items()}
    about = {"command": "select-k", "file": str(file), "method": method, "n_clusters": answer.n_clusters}
    rest = {
        "sentence": str(answer),
        "ranking": answer.ranking,
        "candidates": answer.candidates,
        "curves": scores,
    }
    session.finish(lambda: {**about, **rest})


def _show(session: Work, answer: Any) -> None:
    """Draw the best numbers with what the choice rests on; the whole table is for --output."""
    if not session.shows_answer:
        return
    import numpy as np

    curve, null = answer.curves[answer.score], answer.curves.get(f"{answer.score} (null)")
    columns = {answer.score: curve.values, "±": curve.spread, "without clusters": null and null.values}
    shown = {name: values for name, values in columns.items() if values is not None}
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("", "clusters", *shown, ""):
        table.add_column(Text(name), justify="right" if name else "left")
    highest = max(float(np.nanmax(curve.values)), 1e-300)
    best = answer.ranking[:ROWS]
    for row, k in enumerate(answer.candidates):
        if int(k) not in best:
            continue
        is_chosen = int(k) == answer.n_clusters
        cells = [f"{values[row]:.4g}" if np.isfinite(values[row]) else "–" for values in shown.values()]
        bar = Text(
            "█" * max(0, round(BAR * float(np.nan_to_num(curve.values[row], posinf=0.0)) / highest)),
            style="cyan",
        )
        table.add_row("→" if is_chosen else "", str(k), *cells, bar, style="bold" if is_chosen else "")
    screen.print(table)
    session.say(as_options(str(answer)), "bold")
