"""`symclust predict`: the clusters of new samples by a saved model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from symclust.cli._input import FILE_HELP, OfTexts, SampleOptions, read_input
from symclust.cli._output import PANEL, STDOUT, TABLES, aim, print_table, write_table
from symclust.cli._session import Work
from symclust.cli.describe import MODEL_HELP
from symclust.exceptions import InputError, OptionError

__all__ = ["predict"]


@dataclass(frozen=True)
class OfAnything(SampleOptions, OfTexts):
    """Options for files of anything that a model may have been fitted to."""


def predict(
    model: Annotated[Path, typer.Argument(help=MODEL_HELP, show_default=False)],
    file: Annotated[Path, typer.Argument(help=FILE_HELP, allow_dash=True, show_default=False)],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Table with one row per new sample: .csv, .tsv, .parquet or .json; - prints CSV.",
            rich_help_panel=PANEL,
        ),
    ] = Path(STDOUT),
    *,
    reading: OfAnything,
    session: Work,
) -> None:
    """Place new rows, texts, expression profiles or nodes in the clusters of a model.

    New nodes come as edges to the nodes of the model; edges between new nodes are not used.

    Example: `symclust predict people.symclust others.csv -o labels.csv`
    """
    import numpy as np

    from symclust import load

    if str(output) == STDOUT and session.as_json:
        raise OptionError("--output - and --json would both print: give the table a file.")
    aim(session, table=(output, TABLES))
    fitted = load(model)
    if not hasattr(fitted, "predict"):
        raise InputError(f"{model} holds a {type(fitted).__name__}, which places no new samples.")
    placed = _placed(fitted, read_input(session, file, reading, *_kinds(fitted)))
    session.begin_writing()
    table = placed.to_dataframe().reset_index(names="name")
    if str(output) == STDOUT:
        print_table(table)
    session.write("table", lambda path: write_table(path, table))
    sizes = np.bincount(placed.labels_[placed.labels_ >= 0], minlength=fitted.n_clusters_)
    outside = int(np.count_nonzero(placed.labels_ < 0))
    session.finish(lambda: {"command": "predict", "model": str(model), "sizes": sizes, "n_outside": outside})


def _kinds(fitted: Any) -> tuple[Any, ...]:
    """The kinds of files that hold new samples, as `read_input` takes them."""
    nouns = fitted._nouns
    if nouns[0] == "document":
        return ("texts",)
    if nouns[0] == "node":
        return (("graph",),)
    return (("expression", "features"),)


def _placed(fitted: Any, found: Any) -> Any:
    from symclust.estimators import Placement

    if hasattr(fitted, "place"):
        return fitted.place(found.data)
    X, names = found.data, found.names
    if found.kind == "graph":
        X, names = _new_nodes(found.data, fitted.node_names_)
    elif hasattr(X, "columns"):
        X = _same_columns(fitted, X)
    return Placement(fitted.predict(X), fitted.transform(X), None if names is None else list(names))


def _new_nodes(network: Any, known: Any) -> tuple[Any, list[Any]]:
    """The weights of edges from new nodes to those of the model, and the names of the new nodes."""
    import numpy as np

    place = {str(name): i for i, name in enumerate(known or [])}
    numbers = np.array([place.get(str(name), -1) for name in network.names])
    new = np.flatnonzero(numbers < 0)
    if not new.size or len(new) == len(numbers):
        which = "all" if not new.size else "none"
        raise InputError(
            f"Of the {len(numbers)} nodes, {which} are nodes of the model: give edges between both."
        )
    from scipy.sparse import coo_array

    edges = coo_array(network.csr[new])
    there = numbers[edges.col] >= 0
    ends = edges.row[there], numbers[edges.col[there]]
    return coo_array((edges.data[there], ends), (len(new), len(place))).tocsr(), [
        network.names[i] for i in new
    ]


def _same_columns(fitted: Any, X: Any) -> Any:
    """The columns of the fit in their order, unless the model has a plan, which takes its own."""
    names = getattr(fitted, "feature_names_in_", None)
    if getattr(fitted, "preparation_", None) is not None or names is None:
        return X
    lacking = [name for name in names if name not in X.columns]
    if lacking:
        raise InputError(f"The table lacks {lacking[:5]!r}, which the model was fitted to.")
    return X[list(names)]
