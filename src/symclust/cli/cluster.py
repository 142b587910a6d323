"""`symclust cluster`: samples into clusters."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from symclust.cli._answer import Outcome, finish
from symclust.cli._checkpoint import Resumable
from symclust.cli._input import FILE_HELP, SampleOptions, called, plan_table, read_input
from symclust.cli._methods import MethodName, make_model, number_of
from symclust.cli._output import ToFiles
from symclust.cli._session import Session, Work

__all__ = ["cluster"]

QUICK = 1.0  # seconds of the descent that follows an interrupted choice


AffinityName = Literal["auto", "nearest_neighbors", "cosine", "gaussian", "self_tuning", "random_walk"]


def cluster(
    file: Annotated[Path, typer.Argument(help=FILE_HELP, allow_dash=True, show_default=False)],
    clusters: Annotated[
        str,
        typer.Option(
            "--clusters",
            "-k",
            help="How many clusters, or auto to choose.",
            callback=number_of,
            metavar="K|auto",
        ),
    ] = "auto",
    method: Annotated[MethodName, typer.Option("--method", "-m", help="The method.")] = "sym-nmf",
    affinity: Annotated[
        AffinityName | None, typer.Option("--affinity", help="How alike samples are; by default auto.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Seconds after which to stop.")
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option("--max-iter", help="Iterations after which to stop.")
    ] = None,
    tol: Annotated[
        float | None, typer.Option("--tol", help="How close to a minimum to stop; smaller takes longer.")
    ] = None,
    *,
    reading: SampleOptions,
    to: ToFiles,
    resumable: Resumable,
    session: Work,
) -> None:
    """Cluster the rows of a table, a matrix of similarities, or the nodes of a graph.

    Reads CSV, TSV, Parquet, JSON, .xlsx, NPY, NPZ, MatrixMarket, AnnData, edge lists, GraphML, GML, GEXF and
    Pajek. What was guessed about the file is printed. Ctrl-C keeps the best that was found, writes it and
    exits with code 130; also while the number of clusters is chosen.

    Example: `symclust cluster people.csv -k 8 --output labels.csv --report people.html`
    """
    to.check(session)
    model = make_model(
        method, clusters, session.seed, affinity=affinity, time_limit=time_limit, max_iter=max_iter, tol=tol
    )
    found = read_input(session, file, reading, ("features", "similarity", "graph", "expression"))
    fit(session, model, plan_table(session, model, found.data), resumable)
    title = f"Clusters in {called(file)}"
    answer = Outcome(session, model, model.node_names_ or found.names, title, found)
    about = {"command": "cluster", "file": str(file), "kind": found.kind, "notes": found.notes}
    finish(answer, to, {**about, "method": method})


def fit(session: Session, model: Any, data: Any, resumable: Resumable) -> None:
    """Fit, and show how far it is; Ctrl-C keeps what there is."""
    from symclust.operators import Network
    from symclust.selection import fit_chosen

    own = {name: value for name, value in model.get_params().items() if name in ("callback", "time_limit")}
    samples = "nodes" if isinstance(data, Network) else "samples"
    if model.n_clusters in ("auto", None):
        session.note("The number of clusters is chosen; -k 8 asks for eight.")
    try:
        with resumable.kept(session, type(model), model.get_params(deep=False)):
            chosen = _choose(session, model, data) if model.n_clusters == "auto" else None
            with session.progress(f"Clustering {data.shape[0]:,} {samples}") as bar:
                if "callback" in own:
                    model.set_params(callback=bar.descent(model))
                model.fit(data) if chosen is None else fit_chosen(model, data, chosen)
    except KeyboardInterrupt:
        if not hasattr(model, "labels_"):
            raise
    model.set_params(**own)  # what was changed belongs to this run
    session.begin_writing()


def _choose(session: Session, model: Any, data: Any) -> Any:
    """The choice of the number of clusters; an interrupted one is followed by a short fit."""
    from symclust.selection import choose_for

    with session.progress("Comparing numbers of clusters") as bar:
        chosen = session.best_so_far(bar, partial(choose_for, model, data))
    if session.is_interrupted and "time_limit" in model.get_params():
        model.set_params(time_limit=min(QUICK, model.time_limit or QUICK))
    return chosen
