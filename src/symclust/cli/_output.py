"""Files that commands write: tables with one row per sample, models, pages."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from symclust._files import replacing
from symclust._text import showable
from symclust.cli._session import Session
from symclust.exceptions import InputError, MissingExtraError, OptionError

__all__ = ["PANEL", "ToFiles", "ToPage", "check_targets", "shows_memberships", "write_table"]

PANEL = "What is written"
STDOUT = "-"
MOST_CELLS = 20_000_000  # of memberships in a table, unless they are asked for: some 200 MB of text
TABLES = (".csv", ".tsv", ".parquet", ".json")
PAGES = (".html", ".htm")


Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        help="Page about what was found, one .html file.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]


@dataclass(frozen=True)
class ToPage:
    """Where the page goes."""

    report: Report = None


@dataclass(frozen=True)
class ToFiles:
    """Where table, model and page go."""

    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Table with one row per sample: .csv, .tsv, .parquet or .json; - prints CSV.",
            rich_help_panel=PANEL,
            show_default=False,
        ),
    ] = None
    memberships: Annotated[
        bool | None,
        typer.Option(
            "--memberships/--no-memberships",
            help="Whether the table has a column for each cluster; by default unless it gets huge.",
            rich_help_panel=PANEL,
            show_default=False,
        ),
    ] = None
    report: Report = None
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            help="The fitted model, for symclust.load in Python.",
            rich_help_panel=PANEL,
            show_default=False,
        ),
    ] = None

    def check(self, session: Session) -> None:
        """Refuse what cannot be written, before the work."""
        check_targets({self.output: TABLES, self.report: PAGES, self.model: ()})
        if str(self.output) == STDOUT and session.as_json:
            raise OptionError("--output - and --json would both print: give the table a file.")


def check_targets(targets: dict[Path | None, tuple[str, ...]]) -> None:
    """Refuse files that cannot be written, with the endings each may have; an empty tuple allows any."""
    for path, endings in targets.items():
        if path is None or str(path) == STDOUT:
            continue
        if endings and path.suffix.lower() not in endings:
            raise OptionError(
                f"{showable(str(path))} does not say what to write: let it end in {' or '.join(endings)}."
            )
        _check_place(path)
        for library in _needed(path.suffix.lower()):
            if find_spec(library) is None:
                extra = "cli" if path.suffix.lower() in PAGES else "tables"
                raise MissingExtraError(
                    f"Writing {path.name} needs {library}, which is not installed: "
                    f'pip install "symclust[{extra}]"'
                )


def _needed(suffix: str) -> tuple[str, ...]:
    if suffix in PAGES:
        return ("jinja2", "matplotlib")
    return ("pandas", "pyarrow") if suffix == ".parquet" else ("pandas",) if suffix in TABLES else ()


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{showable(str(path))} is a folder: name a file in it.")
    there = path if path.exists() else next(part for part in path.absolute().parents if part.exists())
    if not path.exists() and not there.is_dir():
        raise InputError(f"{showable(str(path))} cannot be written: {showable(str(there))} is not a folder.")
    if not os.access(there, os.W_OK):
        raise InputError(f"{showable(str(path))} cannot be written: permission denied.")


def write_table(path: Path, frame: Any) -> Path:
    """Write a table in the format that the name says; one that is there already is replaced at the end."""
    if str(path) == STDOUT:
        sys.stdout.write(frame.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        WRITERS[path.suffix.lower()](frame, file)
    return path


def _write_text(write: Callable[[Any], object], file: Any) -> None:
    # Names of files may hold halves of surrogate pairs, which no encoding has.
    text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="")
    write(text)
    text.flush()
    text.detach()


def _write_csv(frame: Any, file: Any, delimiter: str = ",") -> None:
    options = {"index": False, "sep": delimiter, "float_format": "%.6g", "lineterminator": "\n"}
    _write_text(lambda text: frame.to_csv(text, **options), file)


def _write_json(frame: Any, file: Any) -> None:
    _write_text(lambda text: frame.to_json(text, orient="records", lines=False, indent=1), file)


def _write_parquet(frame: Any, file: Any) -> None:
    kinds = {type(name) for name in frame["name"]} if "name" in frame else set()
    if len(kinds) > 1:  # a column of Parquet has one type
        frame = frame.assign(name=frame["name"].map(lambda name: showable(str(name))))
    frame.to_parquet(file, index=False)


WRITERS: dict[str, Callable[[Any, Any], None]] = {
    ".csv": _write_csv,
    ".tsv": lambda frame, file: _write_csv(frame, file, "\t"),
    ".json": _write_json,
    ".parquet": _write_parquet,
}


def shows_memberships(cells: int, wanted: bool | None, session: Session) -> bool:
    """Return whether a table gets a column for each cluster: as wanted, otherwise unless it gets huge."""
    if wanted is None and cells > MOST_CELLS:
        session.note(
            f"The table leaves out the {cells:,} memberships; --memberships writes them all.", style=""
        )
    return cells <= MOST_CELLS if wanted is None else wanted
