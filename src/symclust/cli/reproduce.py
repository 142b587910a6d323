"""`symclust reproduce`: the tables of the papers, with a verdict on each number."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from symclust.cli._console import screen
from symclust.cli._session import Session
from symclust.exceptions import InputError

if TYPE_CHECKING:
    from symclust.reproduce import Cell, PrintedTable, Reproduction

__all__ = ["reproduce"]

INCOMPLETE, UNEXPLAINED = 3, 4
SHOWN = 20  # cells below the printed numbers; the page and --json have all


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TABLE...",
            help="symnmf:5, a document such as thesis, or all; without one, the tables are listed.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Folder with the labelled data sets; by default SYMCLUST_DATA.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few runs, and small data sets only.")] = False,
    stored: Annotated[bool, typer.Option("--stored", help="Run nothing: compare what is kept.")] = False,
    results: Annotated[
        Path,
        typer.Option(
            "--results", help="File in which results are kept; a run that was ended goes on from it."
        ),
    ] = Path("symclust-reproduce.jsonl"),
    page: Annotated[
        Path | None,
        typer.Option("--page", help="Write the tables as a page in Markdown.", show_default=False),
    ] = None,
    *,
    session: Session,
) -> None:
    """Repeat the tables of the papers, and put ours beside theirs.

    Each number gets a verdict: reached, within spread, order holds, below (and why), data differ, no data,
    no method, or not run. Some tables take hours. Exit codes: 0 if all numbers were compared that have data
    and a method, 1 if none was, 3 if data are missing or an experiment failed, 4 if a number is below the
    printed one for no known reason.

    Example: `symclust reproduce leftstochastic:5 --data data --quick`
    """
    from symclust.reproduce import Kept, choose, reproduce_tables, tables, write_page

    if not names:
        known = tables()
        _list(session, known)
        titles = {key: table.title for key, table in known.items()}
        session.finish(lambda: {"command": "reproduce", "tables": titles})
        return
    chosen = choose(names)
    if data is None and "SYMCLUST_DATA" in os.environ:
        data = Path(os.environ["SYMCLUST_DATA"])
    kept = Kept(results)
    if kept.records and not stored:
        session.note(
            f"{len(kept.records)} results are kept in {results}, and are not computed again. "
            "Delete it to begin anew."
        )
    found = reproduce_tables(chosen, data, kept, quick=quick, run=not stored, note=session.note)
    if page is not None:
        session.wanted["page"] = page
        session.write("page", lambda path: write_page(path, found, names))
    _show(session, found)
    session.finish(lambda: {"command": "reproduce", "results": results, **_summary(found)})
    if not found.compared:
        raise InputError(
            f"No number was compared. {_lack(found) or 'Nothing is kept, or --quick leaves it out.'}"
        )
    if lack := _lack(found):
        session.note(lack, "yellow")
        raise typer.Exit(INCOMPLETE)
    if found.unexplained:
        raise typer.Exit(UNEXPLAINED)


def _list(session: Session, known: dict[str, PrintedTable]) -> None:
    if session.shows_answer:
        grid = Table(box=None, header_style="dim", pad_edge=False)
        for name in ("table", "numbers", "what it shows"):
            grid.add_column(name, no_wrap=name == "table")
        for key, table in known.items():
            grid.add_row(key, str(len(table.rows) * len(table.columns)), Text(table.title))
        screen.print(grid)


def _show(session: Session, found: Reproduction) -> None:
    below = [cell for cells in found.cells.values() for cell in cells if cell.verdict == "below"]
    for cell in below[:SHOWN]:
        session.say(_line(cell))
    if len(below) > SHOWN:
        session.say(f"... and {len(below) - SHOWN} more: see --page or --json.")
    counts = ", ".join(f"{count} {verdict}" for verdict, count in found.counts.items())
    session.say(f"{found.compared} numbers compared: {counts}. {found.seconds:,.0f} s of processor time.")


def _line(cell: Cell) -> str:
    table, row, column = cell.key
    why = cell.why or "no reason is known"
    return f"{table}, {row}, {column}: {cell.ours:.4g}, printed {cell.printed:.4g}; {why}"


def _lack(found: Reproduction) -> str:
    """Return what kept numbers from being compared: data that are not there, and failures."""
    parts = [f"Not in the folder of --data: {', '.join(found.lacking)}."] if found.lacking else []
    parts += [f"{piece} failed: {error}" for piece, error in found.failed.items()]
    return " ".join(parts)


def _summary(found: Reproduction) -> dict[str, object]:
    cells = [
        {**cell.key._asdict(), "difference": cell.difference, **dict(list(cell._asdict().items())[1:])}
        for some in found.cells.values()
        for cell in some
    ]
    about = {"lacking": found.lacking, "failed": found.failed, "processor_seconds": found.seconds}
    return {"compared": found.compared, "counts": found.counts, **about, "cells": cells}
