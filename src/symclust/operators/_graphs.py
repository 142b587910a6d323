"""Reading graphs of networkx and igraph; neither is imported unless the object comes from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from symclust.exceptions import InputError

__all__ = ["graph_adjacency", "graph_library", "graph_names", "is_a"]


def graph_library(anything: Any) -> str | None:
    """Return ``"networkx"`` or ``"igraph"`` for a graph of theirs (or a subclass), None for anything else."""
    return next((library for library in ("networkx", "igraph") if is_a(anything, library, "Graph")), None)


def is_a(anything: Any, library: str, name: str) -> bool:
    """Whether an object is of a library's class or a subclass, found out without importing the library."""
    parents = type(anything).__mro__
    return any(p.__name__ == name and p.__module__.split(".")[0] == library for p in parents)


def graph_names(anything: Any) -> list[Any] | None:
    """Return the names of a graph's nodes in the order of the matrix, None for what is not a graph.

    Nodes of igraph without names are called by their number.

    Examples
    --------
    >>> import networkx as nx
    >>> from symclust.operators import graph_names
    >>> graph_names(nx.path_graph(["a", "b", "c"]))
    ['a', 'b', 'c']
    """
    library = graph_library(anything)
    if library == "networkx":
        return list(anything.nodes)
    if library == "igraph":
        named = "name" in anything.vs.attributes()
        return list(anything.vs["name"] if named else range(anything.vcount()))
    return None


def graph_adjacency(graph: Any) -> sp.csr_array:
    """Return the symmetric float64 adjacency matrix; a loop stands once on the diagonal."""
    if graph.is_directed():
        raise InputError(
            f"Got a directed {graph_library(graph)} graph; similarities are symmetric. "
            "Symmetrise it first, for example with (A + A.T) / 2 on its adjacency matrix."
        )
    try:
        i, j, weights = _edges(graph)
    except (TypeError, ValueError) as error:
        raise InputError(f"The edge attribute 'weight' must hold a number on every edge: {error}.") from error
    n = len(graph_names(graph) or ())
    back = i != j
    i, j, weights = np.r_[i, j[back]], np.r_[j, i[back]], np.r_[weights, weights[back]]
    return sp.coo_array((weights, (i, j)), shape=(n, n)).tocsr()


def _edges(graph: Any) -> tuple[Any, Any, Any]:
    """Return the two ends of each edge, by number, and its weight."""
    if graph_library(graph) == "networkx":
        number = {name: place for place, name in enumerate(graph.nodes)}
        edges = [(number[u], number[v], w) for u, v, w in graph.edges(data="weight", default=1)]
        ends = np.array([edge[:2] for edge in edges], dtype=np.intp).reshape(-1, 2)
        weights = np.array([edge[2] for edge in edges], dtype=np.float64)
    else:
        ends = np.array(graph.get_edgelist(), dtype=np.intp).reshape(-1, 2)
        weighted = "weight" in graph.es.attributes()
        weights = np.array(graph.es["weight"] if weighted else np.ones(len(ends)), dtype=np.float64)
    if np.isnan(weights).any():
        raise ValueError("one is None or NaN")
    return ends[:, 0], ends[:, 1], weights
