"""`symclust communities`: groups of nodes in a network."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from symclust.cli._answer import Outcome, finish
from symclust.cli._checkpoint import Resumable
from symclust.cli._input import FILE_HELP, OfGraphs, read_input
from symclust.cli._methods import GraphMethodName, make_model, number_of
from symclust.cli._output import PANEL, ToFiles
from symclust.cli._session import Work
from symclust.cli.cluster import fit

__all__ = ["communities"]


def communities(
    graph: Annotated[Path, typer.Argument(help=FILE_HELP, allow_dash=True, show_default=False)],
    clusters: Annotated[
        str,
        typer.Option(
            "--clusters",
            "-k",
            help="How many communities; auto: as many as raise the modularity.",
            callback=number_of,
            metavar="K|auto",
        ),
    ] = "auto",
    method: Annotated[
        GraphMethodName | None,
        typer.Option(
            "--method",
            "-m",
            help="The method; by default tree, with --overlap sym-nmf.",
        ),
    ] = None,
    overlap: Annotated[
        float | None,
        typer.Option(
            "--overlap",
            min=0,
            max=1,
            help="Add a column with all communities of a node: those in which it is at least this share as "
            "strong as in its own.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    *,
    reading: OfGraphs,
    to: ToFiles,
    resumable: Resumable,
    session: Work,
) -> None:
    """Find communities in a network.

    Reads edge lists with or without weights (two names per line), GraphML, GML, GEXF, Pajek, nodes and links
    in JSON, and adjacency matrices in CSV, MatrixMarket, NPY or NPZ. Names of nodes are kept. Ctrl-C keeps
    the best that was found, writes it and exits with code 130.

    Example: `symclust communities friends.txt --output communities.csv --report friends.html`
    """
    to.check(session)
    kind = "auto" if reading.kind is None and graph.suffix in (".npz", ".npy", ".mtx") else "graph"
    found = read_input(session, graph, reading, ("graph", "similarity"), only=kind)
    # The tree has the modularity of Leiden's method in less time; degrees of membership are SymNMF's.
    chosen = method or ("tree" if overlap is None else "sym-nmf")
    model: Any = make_model(chosen, clusters, session.seed)
    if chosen == "tree" and clusters == "auto":
        model.set_params(n_clusters=None)  # as many as raise the modularity: a network may have thousands
    fit(session, model, found.data, resumable)
    title = f"Communities in {graph.name}"
    answer = Outcome(session, model, model.node_names_ or found.names, title, found)
    about = {"command": "communities", "file": str(graph), "kind": found.kind, "notes": found.notes}
    finish(answer, to, {**about, "method": chosen}, partial(_shared, model, overlap))


def _shared(model: Any, threshold: float | None) -> dict[str, list[str]]:
    """The column with the numbers of all communities of each node, with spaces between them."""
    if threshold is None:
        return {}
    of_node: list[list[str]] = [[] for _ in model.labels_]
    found = model.communities(threshold=threshold)
    place = {node: i for i, node in enumerate(found.by_node)}
    for number, members in enumerate(found):
        for node in members:
            of_node[place[node]].append(str(number))
    return {"communities": [" ".join(numbers) for numbers in of_node]}
