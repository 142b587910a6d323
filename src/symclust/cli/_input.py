"""From the words of a command to data: the options for reading, and what is said about what was read."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from symclust.cli._output import check_output
from symclust.cli._session import Session
from symclust.exceptions import CombinationError, InputError

if TYPE_CHECKING:
    from symclust.readers import Described

LISTS = ("columns", "drop", "numbers", "categories")
PANEL = "How the file is read (by default guessed)"
FILE_HELP = "The file to read, or - for standard input. Compressed files (.gz) are fine."


KindOfSamples = Literal["features", "similarity", "graph"]


KindOfGraphs = Literal["graph", "similarity"]


TextColumns = Literal["drop", "one_hot"]


Missing = Literal["drop_rows", "drop_columns", "mean"]


Scale = Literal["standard", "none"]


Duplicates = Literal["sum", "max", "first"]


_option = partial(typer.Option, rich_help_panel=PANEL)


def _column(value: str | None) -> Any:
    """A column for readers: a name, a number, or None if there is none."""
    return None if value == "none" else int(value) if value is not None and value.isdigit() else value


@dataclass(frozen=True)
class Reading:
    """Options for reading any file."""

    def given(self) -> dict[str, Any]:
        """The options that were given, as `read_described` takes them."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: _given(name, value) for name, value in values.items() if value not in (None, [])}


def _given(name: str, value: Any) -> Any:
    if name in ("id_column", "weight"):
        return _column(value)
    if name in LISTS:
        return [_column(part) for entry in value for part in entry.split(",")]
    return value


Delimiter = Annotated[
    str | None, _option("--delimiter", help='Character between fields, or "spaces".', metavar="CHAR")
]
Header = Annotated[
    bool | None, _option("--header/--no-header", help="Whether the first line holds the names of columns.")
]
Encoding = Annotated[
    str | None, _option("--encoding", help="Such as latin-1; by default UTF-8.", metavar="NAME")
]
Weight = Annotated[
    str | None,
    _option("--weight", help="Column with the weights of edges; none lets each count 1.", metavar="NAME"),
]
Twice = Annotated[
    Duplicates | None, _option("--duplicates", help="What becomes of edges that are listed twice.")
]
Key = Annotated[str | None, _option("--key", help="Array to take from an .npz file.", metavar="NAME")]
IdColumn = Annotated[
    str | None,
    _option("--id-column", help="Column or JSON key with the names; none if there is none.", metavar="NAME"),
]


@dataclass(frozen=True)
class OfGraphs(Reading):
    """Options for files that hold a graph."""

    kind: Annotated[KindOfGraphs | None, _option("--kind", help="What the file holds.")] = None
    delimiter: Delimiter = None
    header: Header = None
    weight: Weight = None
    duplicates: Twice = None
    key: Key = None
    encoding: Encoding = None


@dataclass(frozen=True)
class SampleOptions(Reading):
    """Options for files of samples, whether they are rows of features or nodes."""

    kind: Annotated[
        KindOfSamples | None,
        _option("--kind", help="What the file holds: features of samples, similarities, or a graph."),
    ] = None
    delimiter: Delimiter = None
    header: Header = None
    id_column: IdColumn = None
    columns: Annotated[
        list[str] | None, _option("--columns", help="Features to take.", metavar="NAME,NAME")
    ] = None
    drop: Annotated[
        list[str] | None, _option("--drop", help="Columns to leave out.", metavar="NAME,NAME")
    ] = None
    numbers: Annotated[
        list[str] | None, _option("--numbers", help="Columns to take as numbers.", metavar="NAME,NAME")
    ] = None
    categories: Annotated[
        list[str] | None, _option("--categories", help="Columns to take as categories.", metavar="NAME,NAME")
    ] = None
    text_columns: Annotated[
        TextColumns | None,
        _option("--text-columns", help="Drop columns of text, or make a column of 0 and 1 for each value."),
    ] = None
    missing: Annotated[Missing | None, _option("--missing", help="What becomes of missing values.")] = None
    scale: Annotated[
        Scale | None,
        _option("--scale", help="standard gives all columns mean 0 and variance 1, none leaves them."),
    ] = None
    weight: Weight = None
    duplicates: Twice = None
    key: Key = None
    encoding: Encoding = None


@dataclass(frozen=True)
class OfTexts(Reading):
    """Options for collections of documents."""

    text_column: Annotated[
        str | None, _option("--text-column", help="Column or JSON key with the texts.", metavar="NAME")
    ] = None
    id_column: IdColumn = None
    delimiter: Delimiter = None
    header: Header = None
    encoding: Encoding = None


@dataclass(frozen=True)
class OfImages(Reading):
    """Options for images."""

    key: Key = None


# What other commands are for, by the kind of data.
COMMANDS = {
    "features": "cluster",
    "expression": "cluster",
    "similarity": "cluster",
    "graph": "communities",
    "texts": "topics",
    "image": "segment",
}
CALLED = {
    "features": "samples with features",
    "expression": "expression profiles",
    "similarity": "similarities",
    "graph": "a graph",
    "texts": "texts",
    "image": "an image",
}


def read_input(
    session: Session, path: Path, reading: Reading, kinds: tuple[str, ...], *, only: str = "auto"
) -> Described:
    """Read a file, say what was assumed, and refuse what the command is not for."""
    options = reading.given()
    kind = options.pop("kind", only)
    if options.get("scale") == "none":
        options["scale"] = None
    name = called(path)
    with session.progress(f"Reading {name}"):
        found = _read(path, name, kind, options, is_told=reading.given().get("kind") is not None)
    if found.kind not in kinds:
        ways = f"It is for symclust {COMMANDS[found.kind]}"
        other = [k for k in kinds if k in ("features", "graph", "similarity")]
        ways += f", or say what it is with --kind {' or '.join(other)}" if other else ""
        raise InputError(f"{name} holds {CALLED[found.kind]}. {ways}.")
    check_output(session, found, name)
    session.note(f"Read {name}: {_shape(found)}.", style="")
    for note in found.notes:
        session.note(f"  {note}")
    return found


def plan_table(session: Session, model: Any, data: Any) -> Any:
    """Return what the model is fitted to, and say what becomes of a table.

    Models of similarities prepare a table themselves, the others compare its numbers as they are.
    """
    from symclust.inputs.table_plan import plan_for
    from symclust.validation import MARK

    is_prepared = "affinity" in model.get_params()
    if not is_prepared and hasattr(data, "attrs") and MARK in data.attrs:
        data.attrs[MARK] = {"log": False, **data.attrs[MARK]} | {"scale": data.attrs[MARK].get("scale")}
    plan = plan_for(data)
    if plan is None:
        return data
    for line in plan.describe():
        session.note(f"  {line}")
    return data if is_prepared else plan.apply(data)


def _read(path: Path, name: str, kind: str, options: dict[str, Any], is_told: bool) -> Described:
    """Read a file, with errors in words of the command if that sets the kind."""
    from symclust.readers import read_described

    try:
        return read_described(str(path), kind, **options)
    except CombinationError as error:
        if is_told or kind == "auto":
            raise
        is_read = str(error).partition("which is ")[2]
        raise InputError(f"{name} does not hold {CALLED[kind]}: it is {is_read}") from error
    except InputError as error:
        if is_told or kind == "auto":
            raise
        raise InputError(str(error).replace("Say kind='features'", "Use symclust cluster")) from error


def called(path: Path) -> str:
    """The name of an input in messages."""
    return "standard input" if str(path) == "-" else path.name or str(path)


def _shape(found: Described) -> str:
    """The data in words, such as "150 samples with 4 features"."""
    data = found.data
    if found.kind == "texts":
        return f"{len(data):,} documents"
    if found.kind == "image":
        return f"an image of {data.shape[0]:,} × {data.shape[1]:,} pixels"
    n = data.shape[0]
    if found.kind in ("features", "expression"):
        width = data.shape[1]
        return f"{n:,} samples with {width:,} feature{'s' * (width != 1)}"
    if found.kind == "similarity":
        return f"similarities of {n:,} samples"
    edges = getattr(data, "csr", None)
    links = "" if edges is None else f" and {edges.nnz // 2:,} edges"
    return f"a graph with {n:,} nodes{links}"
