"""Lists of edges, which are no features: refused if that is certain, else with a warning."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from symclust.exceptions import InputTypeError, warn
from symclust.validation.kinds import end_columns, kind_of

SEEN_EDGES = 100  # rows that are looked at before a list is taken for one of edges
LEAST_EDGES = 10  # in an array: fewer may be anything


def refuse_edges(X: Any, *, name: str = "X", numbers: bool = False) -> None:
    """Refuse a list of edges, and say how it becomes a graph.

    These are edges: what networkx calls ``graph.edges``; a DataFrame with columns such as source and target;
    pairs or triples whose first two are names; a list of tuples, as ``list(graph.edges)`` is, whose first two
    are whole numbers; and, with `numbers` (similarities are expected), whole numbers in any form. As features
    numbers in arrays and in lists of lists are as good as others.
    """
    kind = kind_of(X)
    if kind == "edges of a graph":
        raise InputTypeError(f"{name} holds the edges of a graph. Give the graph itself: fit(graph).")
    if kind == "edge table":
        raise InputTypeError(_about_table(X, name))
    if kind == "array" and (edge := _first_edge(X, numbers)) is not None:
        raise InputTypeError(_about_edges(len(X), edge, name))


def warn_of_edges(X: Any) -> None:
    """Warn of an array of pairs of node numbers that is about to be clustered as samples of two features.

    So it looks if all numbers are whole, at least 0 and repeated, leave out hardly any number between the
    smallest and the largest, and no row has the same number twice. Points on a grid have such rows.
    """
    if not (isinstance(X, np.ndarray) and X.dtype.kind in "iu" and X.ndim == 2 and X.shape[1] == 2):
        return
    if len(X) < LEAST_EDGES or X.min() < 0 or (X[:, 0] == X[:, 1]).any():
        return
    first, last, n_nodes = X.min(), X.max(), np.unique(X).size
    if n_nodes <= len(X) + 1 and last - first < 1.1 * n_nodes:
        warn(
            f"X, {len(X)} pairs of whole numbers from {first} to {last}, looks like a list of edges, but is "
            f"clustered as {len(X)} samples of two features. If these are edges, give the graph instead, "
            "networkx.from_edgelist(X.tolist()). If they are points, X.astype(float) says so."
        )


def _first_edge(X: Any, numbers: bool) -> tuple[Any, ...] | None:
    """The first of pairs or triples that are edges, else None."""
    if not _is_sequence(X) or len(X) < 2 or not _is_sequence(X[0]) or len(X) == len(X[0]):
        return None  # two pairs or three triples are a matrix
    seen = X[:SEEN_EDGES]
    if not all(_is_sequence(row) and len(row) in (2, 3) for row in seen):
        return None
    numbers = numbers or (isinstance(X, list) and all(isinstance(row, tuple) for row in seen))
    are_nodes = all(isinstance(end, str) or (numbers and _is_whole(end)) for row in seen for end in row[:2])
    if not are_nodes or all(row[0] == row[1] for row in seen):  # loops alone are no graph
        return None
    return tuple(X[0].tolist() if isinstance(X[0], np.ndarray) else X[0])


def _is_sequence(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _is_whole(value: Any) -> bool:
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    return is_number and float(value).is_integer() and float(value) >= 0


def _about_table(frame: Any, name: str) -> str:
    source, target = end_columns(frame) or tuple(frame.columns[:2])
    weight = next((column for column in frame.columns if column not in (source, target)), None)
    reading = "" if weight is None else f", edge_attr={weight!r}"
    named = "" if weight in (None, "weight") else f" with affinity_params={{'weight': {weight!r}}}"
    return (
        f"{name} looks like a table of {len(frame)} edges, from {source!r} to {target!r}. Estimators on "
        "similarities, such as SymNMF, take it as it is. Elsewhere make a graph of it first: "
        f"fit(networkx.from_pandas_edgelist(df, {source!r}, {target!r}{reading})){named}, or "
        "igraph.Graph.DataFrame(df, directed=False). If these are features, give df.to_numpy()."
    )


def _about_edges(count: int, edge: tuple[Any, ...], name: str) -> str:
    is_weighted = len(edge) == 3
    made = "graph = networkx.Graph(); graph.add_weighted_edges_from(edges)" if is_weighted else ""
    otherwise = "encode names as numbers first" if isinstance(edge[0], str) else "give numpy.asarray(X)"
    return (
        f"{name} looks like a list of {count} edges, such as {edge!r:.80}. Make a graph of it first: "
        f"{made or 'networkx.from_edgelist(edges)'}, or igraph.Graph.TupleList(edges, "
        f"weights={is_weighted}); or, if nodes are numbered from 0 to n - 1, a sparse matrix: "
        "A = scipy.sparse.coo_array((weights, (i, j)), shape=(n, n)), then A + A.T with "
        f"affinity='network'. If these are features, {otherwise}."
    )
