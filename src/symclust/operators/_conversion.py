"""Whatever holds pairwise similarities, as an operator.

Graphs of networkx and igraph are read without importing either.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from symclust._types import Array
from symclust.exceptions import InputError, InputTypeError
from symclust.operators._base import Operator
from symclust.operators.dense import Dense
from symclust.operators.sparse import Sparse
from symclust.validation import float_dtype, is_a

__all__ = ["as_operator", "graph_adjacency", "graph_names"]

ACCEPTED = (
    "a NumPy array, a SciPy sparse array or matrix, a pandas DataFrame with equal index and columns, "
    "a networkx or igraph graph, or an operator from symclust.operators"
)


UNDIRECTED = {
    "networkx": "graph.to_undirected()",
    "igraph": "graph.as_undirected() (combine_edges='sum' keeps weights)",
    None: "an undirected graph",
}


def as_operator(similarity: Any, dtype: Any = None) -> Operator:
    """Return the form of a similarity matrix that every method works on.

    Parameters
    ----------
    similarity : array, sparse array, DataFrame, graph or Operator
        A square matrix, or an undirected networkx or igraph graph (edge attribute ``"weight"``, 1 where an
        edge has none). An operator is returned as it is; a sparse matrix or a graph never becomes dense.
    dtype : {np.float32, np.float64}, optional
        Convert to this precision. By default float32 and float64 stay and integers become float64.

    Returns
    -------
    Operator
        ``op @ H`` is the product with A.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> from symclust.operators import as_operator
    >>> as_operator(np.eye(3))
    <Dense 3 x 3 float64>
    >>> as_operator(scipy.sparse.eye_array(3, dtype=np.float32)) @ np.ones(3)
    array([1., 1., 1.], dtype=float32)
    """
    if isinstance(similarity, Operator):
        return _of_dtype(similarity, dtype)
    matrix = _matrix(similarity)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"A similarity matrix is square, a row and a column for each sample; got shape {matrix.shape}."
        )
    if dtype is not None and float_dtype(matrix.dtype) != np.dtype(dtype):
        matrix = matrix.astype(dtype, copy=False)
    operator = Sparse(matrix) if sp.issparse(matrix) else Dense(matrix)
    operator.names = graph_names(similarity)
    return operator


def _of_dtype(operator: Operator, dtype: Any) -> Operator:
    if dtype is not None and operator.dtype != np.dtype(dtype):
        raise InputError(
            f"{operator!r} is needed in {np.dtype(dtype)}, and operators keep their dtype: "
            f"make it from data converted with .astype({np.dtype(dtype).name!r})."
        )
    return operator


def _matrix(similarity: Any) -> Any:
    if isinstance(similarity, np.ndarray) or sp.issparse(similarity):
        return similarity
    if graph_library(similarity) is not None:
        return graph_adjacency(similarity)
    if is_a(similarity, "pandas", "DataFrame"):
        return _frame_values(similarity)
    raise InputTypeError(f"Cannot read similarities from {type(similarity).__name__}. Expected {ACCEPTED}.")


def _frame_values(frame: Any) -> Any:
    if frame.shape[0] != frame.shape[1]:
        raise InputError(f"A similarity matrix is square; got a DataFrame of shape {frame.shape}.")
    if not frame.index.equals(frame.columns):
        raise InputError(
            "The DataFrame's index and columns differ, so rows and columns may not be in the same order. "
            "Reorder them (df.loc[names, names]), or pass df.to_numpy() if they already agree."
        )
    if all(is_a(kind, "pandas", "SparseDtype") for kind in frame.dtypes):
        return frame.sparse.to_coo()
    return frame.to_numpy()


def graph_library(anything: Any) -> str | None:
    """Return ``"networkx"`` or ``"igraph"`` for a graph of theirs (or a subclass), None for anything else."""
    return next((library for library in ("networkx", "igraph") if is_a(anything, library, "Graph")), None)


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
        library = graph_library(graph)
        raise InputError(
            f"Got a directed {library} graph; similarities are symmetric. Give {UNDIRECTED[library]}, or "
            "symmetrise its adjacency matrix, for example with (A + A.T) / 2, which keeps half of an edge "
            "that goes one way."
        )
    i, j, weights = _edges(graph)
    n = len(graph_names(graph) or ())
    back = i != j
    i, j, weights = np.r_[i, j[back]], np.r_[j, i[back]], np.r_[weights, weights[back]]
    return sp.coo_array((weights, (i, j)), shape=(n, n)).tocsr()


def _edges(graph: Any) -> tuple[Any, Any, Array]:
    """Return the two ends of each edge, by number, and its weight."""
    if graph_library(graph) == "networkx":
        number = {name: place for place, name in enumerate(graph.nodes)}
        edges = [(number[u], number[v], w) for u, v, w in graph.edges(data="weight", default=1)]
        ends = np.array([edge[:2] for edge in edges], dtype=np.intp).reshape(-1, 2)
        weights = [edge[2] for edge in edges]
    else:
        ends = np.array(graph.get_edgelist(), dtype=np.intp).reshape(-1, 2)
        weights = graph.es["weight"] if "weight" in graph.es.attributes() else [1] * len(ends)
    return ends[:, 0], ends[:, 1], _numbers(weights, ends, graph)


def _numbers(weights: list[Any], ends: Array, graph: Any) -> Array:
    try:
        numbers = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array([_number(weight) for weight in weights])
    if np.isnan(numbers).any():
        first = int(np.isnan(numbers).argmax())
        u, v = (graph_names(graph) or [])[ends[first, 0]], (graph_names(graph) or [])[ends[first, 1]]
        raise InputError(
            f"The edge attribute 'weight' must hold a number on every edge; between {u!r} and {v!r} it holds "
            f"{weights[first]!r}."
        )
    return numbers


def _number(weight: Any) -> float:
    try:
        return float(weight)
    except (TypeError, ValueError):
        return np.nan
