"""Files that commands write: tables with one row per sample, annotated graphs and AnnData, models, pages."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symclust._annotate import annotate
from symclust._files import new_folder, replacing
from symclust._optional import missing
from symclust._text import showable
from symclust.cli._session import Session
from symclust.exceptions import InputError, OptionError

if TYPE_CHECKING:
    from symclust.readers import Described

PANEL = "What is written"
_option = partial(typer.Option, rich_help_panel=PANEL)
STDOUT = "-"
MOST_CELLS = 20_000_000  # of memberships in a table, unless they are asked for: some 200 MB of text
TABLES = (".csv", ".tsv", ".parquet", ".json", ".xlsx")
GRAPHS = (".graphml", ".gml")
ANNOTATED = (*GRAPHS, ".h5ad")  # files of graphs and expression, with the clusters written into them
PAGES = (".html", ".htm")
# The libraries that write a file, and the extra that installs them.
NEEDED: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(TABLES, (("pandas",), "tables")),
    ".parquet": (("pandas", "pyarrow"), "tables"),
    ".xlsx": (("pandas", "openpyxl"), "tables"),
    **dict.fromkeys(GRAPHS, (("pandas", "networkx"), "graphs")),
    ".h5ad": (("anndata",), "expression"),
    **dict.fromkeys(PAGES, (("jinja2", "matplotlib"), "cli")),
}
Target = tuple[Path | None, tuple[str, ...]]  # a file, and the endings that it may have


Report = Annotated[Path | None, _option("--report", help="Page about what was found, one .html file.")]


@dataclass(frozen=True)
class ToPage:
    """The path of the page."""

    report: Report = None


@dataclass(frozen=True)
class ToFiles:
    """The paths of table, model and page."""

    output: Annotated[
        Path | None,
        _option(
            "--output",
            "-o",
            help="Table with one row per sample: .csv, .tsv, .parquet, .json or .xlsx; or the graph "
            "(.graphml, .gml) or AnnData (.h5ad) with the clusters in it; - prints CSV.",
        ),
    ] = None
    memberships: Annotated[
        bool | None,
        _option(
            "--memberships/--no-memberships",
            help="Whether the table has a column for each cluster; by default unless it gets huge.",
        ),
    ] = None
    report: Report = None
    model: Annotated[
        Path | None,
        _option("--model", help="The fitted model, for symclust.load in Python."),
    ] = None

    def check(self, session: Session, **others: Target) -> None:
        """Refuse what cannot be written, before the work."""
        if str(self.output) == STDOUT and session.as_json:
            raise OptionError("--output - and --json would both print: give the table a file.")
        aim(
            session,
            table=(self.output, (*TABLES, *ANNOTATED)),
            model=(self.model, ()),
            report=(self.report, PAGES),
            **others,
        )


def aim(session: Session, **targets: Target) -> None:
    """Note the files that are wanted, by what they hold; refuse those that cannot be written, all at once.

    A target is a path, or None, with the endings that it may have; an empty tuple allows any.
    """
    wanted = {what: path for what, (path, _) in targets.items() if path is not None and str(path) != STDOUT}
    problems = [problem for what, path in wanted.items() for problem in _problems(path, targets[what][1])]
    taken: dict[str, str] = {}
    for what, path in wanted.items():
        other = taken.setdefault(os.path.realpath(path), what)
        if other != what:
            problems.append(f"The {other} and the {what} cannot both be written to {showable(str(path))}.")
    if problems:
        raise InputError(" ".join(problems))
    session.wanted |= wanted


def _problems(path: Path, endings: tuple[str, ...]) -> Iterator[str]:
    """Yield why a file cannot be written."""
    name, suffix = showable(str(path)), path.suffix.lower()
    if endings and suffix not in endings:
        yield f"{name} does not say what to write: let it end in {' or '.join(endings)}."
    try:
        _check_place(path)
    except (OSError, ValueError) as error:  # ValueError: no path has a zero byte
        yield f"{name} cannot be written: {getattr(error, 'strerror', None) or error}."
    libraries, extra = NEEDED.get(suffix, ((), ""))
    if absent := [library for library in libraries if find_spec(library) is None]:
        yield missing(absent[0], extra, name) + "."


def check_output(session: Session, found: Described, name: str) -> None:
    """Refuse a file that the clusters cannot be written into: a graph needs one, and .h5ad an AnnData."""
    path = session.wanted.get("table")
    suffix = "" if path is None else path.suffix.lower()
    is_graph = found.kind == "graph" and hasattr(found.data, "csr")
    if (suffix in GRAPHS and not is_graph) or (suffix == ".h5ad" and found.kind != "expression"):
        there = f"has no {'graph' if suffix in GRAPHS else 'AnnData'}"
        raise InputError(
            f"{showable(str(path))} cannot be written: {name} {there} that clusters could be written into. "
            f"Let the output end in {' or '.join(TABLES)}."
        )


def _check_place(path: Path) -> None:
    """Raise the error that writing there would."""
    if path.is_dir():
        raise IsADirectoryError(None, "it is a folder; name a file in it")
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(None, "permission denied")
    if path.exists() and not path.is_file():  # a pipe or a device
        return
    there = next(part for part in Path(os.path.realpath(path)).parents if part.exists())
    if not there.is_dir():
        raise NotADirectoryError(None, f"{showable(str(there))} is not a folder")
    with TemporaryFile(dir=there):  # permissions alone do not say it: a file system may be read-only, or full
        pass


def print_table(frame: Any) -> None:
    """Print a table as CSV."""
    sys.stdout.write(frame.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def write_table(path: Path, frame: Any) -> None:
    """Write a table in the format that the name says; one that is there already is replaced at the end."""
    with replacing(path) as file:
        WRITERS[path.suffix.lower()](frame, file)


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


def _write_excel(frame: Any, file: Any) -> None:
    from pandas import ExcelWriter

    texts = frame.select_dtypes(exclude="number")
    shown = texts.map(lambda value: showable(value) if isinstance(value, str) else value)
    with ExcelWriter(file, engine="openpyxl") as book:
        frame.assign(**shown).to_excel(book, index=False)
        for row in book.book.active.iter_rows():
            for cell in row:
                if cell.data_type == "f":  # a name that begins with = is a text, and nothing to compute
                    cell.data_type = "s"


WRITERS: dict[str, Callable[[Any, Any], None]] = {
    ".csv": _write_csv,
    ".tsv": lambda frame, file: _write_csv(frame, file, "\t"),
    ".json": _write_json,
    ".parquet": _write_parquet,
    ".xlsx": _write_excel,
}


def write_annotated(
    path: Path, model: Any, found: Described, memberships: bool, extra: dict[str, Any]
) -> None:
    """Write what was read with the clusters of its nodes or samples, as `annotate` does."""
    if path.suffix.lower() in GRAPHS:
        _write_graph(path, model, found, memberships, extra)
    else:
        _write_h5ad(path, model, found.data, memberships)


def _write_graph(path: Path, model: Any, found: Described, memberships: bool, extra: dict[str, Any]) -> None:
    import networkx

    graph = found.original
    if graph is None:
        graph = networkx.from_scipy_sparse_array(found.data.csr)
    names = found.data.names or range(len(graph))
    graph = networkx.relabel_nodes(graph, dict(zip(graph, names, strict=True)))
    graph = annotate(graph, model, memberships=memberships)
    for name, values in extra.items():
        networkx.set_node_attributes(graph, dict(zip(graph, values, strict=True)), name)
    graph = networkx.relabel_nodes(graph, str)
    kept = (bool, int, float, str)  # what both formats hold
    graph.graph = {key: value for key, value in graph.graph.items() if isinstance(value, kept)}
    for place in (*graph.nodes.values(), *graph.edges.values()):
        place |= {key: str(value) for key, value in place.items() if not isinstance(value, kept)}
    with replacing(path) as file:
        if path.suffix.lower() == ".gml":
            networkx.write_gml(graph, file, stringizer=str)
        else:
            networkx.write_graphml(graph, file)


def _write_h5ad(path: Path, model: Any, adata: Any, memberships: bool) -> None:
    free = chain(["cluster"], (f"cluster ({number})" for number in count(2)))
    key = next(name for name in free if name not in adata.obs)
    annotate(adata, model, key=key, memberships=memberships)
    with new_folder(path.parent) as folder, replacing(path) as file:
        adata.write_h5ad(folder / "a.h5ad")
        with (folder / "a.h5ad").open("rb") as written:
            copyfileobj(written, file)


def shows_memberships(cells: int, wanted: bool | None, session: Session) -> bool:
    """Whether a table gets a column for each cluster: as wanted, otherwise unless it gets huge."""
    if wanted is None and cells > MOST_CELLS:
        session.note(
            f"The table leaves out the {cells:,} memberships; --memberships writes them all.", style=""
        )
    return cells <= MOST_CELLS if wanted is None else wanted
