"""The kind of whatever a user gives, by its type and without importing the library that it comes from."""

from __future__ import annotations

from os import PathLike
from typing import Any

KINDS = {  # by library and class; the first class of the method resolution order that is listed decides
    ("symclust", "Network"): "network",
    ("symclust", "Operator"): "operator",
    ("symclust", "AttributedGraph"): "attributed graph",
    ("symclust", "AttributedNodes"): "attributed nodes",
    ("networkx", "Graph"): "networkx graph",
    ("networkx", "EdgeViewABC"): "edges of a graph",
    ("igraph", "Graph"): "igraph graph",
    ("igraph", "EdgeSeq"): "edges of a graph",
    ("pandas", "DataFrame"): "table",
    ("anndata", "AnnData"): "AnnData",
    ("dask", "Array"): "Dask array",
    ("dask", "DataFrame"): "Dask table",
    ("torch", "Tensor"): "tensor",
}
GRAPHS = ("network", "networkx graph", "igraph graph", "edge table")
MARK = "symclust"  # in the attrs of a DataFrame that `fit` is to prepare, with the options of its plan
# Columns with the ends of edges, by the lists of networkx, igraph, Gephi and others.
ENDS = ("source", "src", "from", "node1", "node_1", "u", "head", "id1", "vertex1")
OTHER_ENDS = ("target", "dst", "dest", "destination", "to", "node2", "node_2", "v", "tail", "id2", "vertex2")


def kind_of(X: Any) -> str:
    """The kind of what was given: one of `KINDS`, a kind of table, "path", or "array" for the rest.

    A DataFrame is an "edge table" if it has columns such as source and target, a "similarity table" if its
    rows have names and its columns the same ones in the same order, and a "table" otherwise.
    """
    if isinstance(X, str | bytes | PathLike):
        return "path"
    classes = ((cls.__module__.partition(".")[0], cls.__name__) for cls in type(X).__mro__)
    kind = next((KINDS[cls] for cls in classes if cls in KINDS), "array")
    if kind != "table":
        return kind
    if end_columns(X) is not None:
        return "edge table"
    return "similarity table" if sample_names(X) is not None and X.index.equals(X.columns) else "table"


def is_similarity(X: Any) -> bool:
    """Whether X describes similarities by its type: an operator, a graph, or a table of edges."""
    return kind_of(X) in ("operator", "attributed graph", *GRAPHS)


def is_a(anything: Any, library: str, name: str) -> bool:
    """Whether an object is of a library's class or a subclass, found out without importing the library."""
    parents = type(anything).__mro__
    return any(p.__name__ == name and p.__module__.partition(".")[0] == library for p in parents)


def sample_names(X: Any) -> list[Any] | None:
    """The names of samples: the index of a DataFrame, `obs_names` of an AnnData; None without names.

    Rows that are only counted from 0 on have no names.
    """
    if is_a(X, "pandas", "DataFrame"):
        counted = is_a(X.index, "pandas", "RangeIndex") and (X.index.start, X.index.step) == (0, 1)
        return None if counted else X.index.tolist()
    if is_a(X, "anndata", "AnnData"):
        names = [str(name) for name in X.obs_names]
        return None if names == [str(number) for number in range(len(names))] else names
    return None


def end_columns(frame: Any) -> tuple[Any, Any] | None:
    """The columns of a table that hold the two ends of edges, by their names; None if it has none."""
    if not 2 <= frame.shape[1] <= 4:  # with a weight, and perhaps a kind
        return None
    found = {str(column).strip().lower(): column for column in frame.columns}
    ends = [next((found[name] for name in names if name in found), None) for names in (ENDS, OTHER_ENDS)]
    return None if None in ends else (ends[0], ends[1])
