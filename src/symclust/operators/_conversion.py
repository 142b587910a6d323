"""Anything that holds pairwise similarities, as an operator.

Graphs of networkx and igraph are read without importing either.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from symclust._types import Array, SimilarityLike
from symclust.exceptions import CombinationError, InputError, InputTypeError, warn
from symclust.operators._base import Operator
from symclust.operators._network import Network, network_of_edges, number_nodes
from symclust.operators.dense import Dense
from symclust.operators.sparse import Sparse
from symclust.operators.torch.tensors import tensor_operator
from symclust.validation import (
    end_columns,
    float_dtype,
    is_a,
    kind_of,
    refuse_edges,
    refuse_other_names,
    sample_names,
)

WEIGHT = "weight"  # the attribute that networkx, igraph and their files call so
ACCEPTED = (
    "a NumPy array, a SciPy sparse array or matrix, a pandas DataFrame with equal index and columns, "
    "a networkx or igraph graph, a Dask array, a PyTorch tensor, or an operator from symclust.operators"
)


UNDIRECTED = {  # ways to make them so
    "networkx graph": "graph.to_undirected()",
    "igraph graph": "graph.as_undirected() (combine_edges='sum' keeps weights)",
}


def as_operator(
    similarity: SimilarityLike, dtype: DTypeLike | None = None, *, weight: object = WEIGHT
) -> Operator:
    """The form of a similarity matrix that every method works on.

    Parameters
    ----------
    similarity : array, sparse array, DataFrame, graph, Dask array, torch.Tensor or Operator
        A square matrix, or an undirected networkx or igraph graph. An operator is returned as it is; a sparse
        matrix or a graph never becomes dense, a Dask array stays with the workers (`OnDask`), and a tensor on
        its device.
    dtype : {np.float32, np.float64}, optional
        Convert to this precision. By default float32 and float64 stay and integers become float64.
    weight : str or None, default="weight"
        For a graph, as in `graph_adjacency`.

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
    kind = kind_of(similarity)
    if isinstance(similarity, Operator):
        return _of_dtype(similarity, dtype)
    if weight != WEIGHT and kind not in UNDIRECTED:
        raise CombinationError(
            f"weight={weight!r} names an attribute of the edges of a graph, and a "
            f"{type(similarity).__name__} has none. Leave it out."
        )
    if kind == "Dask array":
        return _on_workers(similarity, dtype)
    if kind == "tensor":
        return tensor_operator(similarity, dtype)
    matrix = _matrix(similarity, kind, weight)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"A similarity matrix is square, a row and a column for each sample; got shape {matrix.shape}."
        )
    if dtype is not None and float_dtype(matrix.dtype) != np.dtype(dtype):
        matrix = matrix.astype(dtype, copy=False)
    operator = Sparse(matrix) if sp.issparse(matrix) else Dense(matrix)
    operator.names = graph_names(similarity) or sample_names(similarity)
    return operator


def _on_workers(similarity: Any, dtype: Any) -> Operator:
    from symclust.operators.dask.on_dask import (
        OnDask,  # which reads tables of edges by functions of this file
    )

    return OnDask(similarity if dtype is None else similarity.astype(dtype))


def _of_dtype(operator: Operator, dtype: Any) -> Operator:
    if dtype is not None and operator.dtype != np.dtype(dtype):
        raise InputError(
            f"{operator!r} is needed in {np.dtype(dtype)}, and operators keep their dtype: "
            f"make it from data converted with .astype({np.dtype(dtype).name!r})."
        )
    return operator


def _matrix(similarity: Any, kind: str, weight: Any) -> Any:
    refuse_edges(similarity, name="The similarity", numbers=True)
    if isinstance(similarity, np.ndarray) or sp.issparse(similarity):
        return similarity
    if kind in UNDIRECTED:
        return graph_adjacency(similarity, weight)
    if kind in ("table", "similarity table"):
        return _frame_values(similarity)
    raise InputTypeError(f"Cannot read similarities from {type(similarity).__name__}. Expected {ACCEPTED}.")


def _frame_values(frame: Any) -> Any:
    if frame.shape[0] != frame.shape[1]:
        raise InputError(f"A similarity matrix is square; got a DataFrame of shape {frame.shape}.")
    refuse_other_names(frame)
    if all(is_a(kind, "pandas", "SparseDtype") for kind in frame.dtypes):
        return frame.sparse.to_coo()
    return frame.to_numpy()


def graph_names(anything: Any) -> list[Any] | None:
    """The names of a graph's nodes in the order of the matrix; None for anything else.

    Nodes of igraph and of a `Network` without names are called by their number.
    """
    match kind_of(anything):
        case "network":
            return list(range(anything.n) if anything.names is None else anything.names)
        case "networkx graph":
            return list(anything.nodes)
        case "igraph graph":
            named = "name" in anything.vs.attributes()
            return list(anything.vs["name"] if named else range(anything.vcount()))
    return None


def graph_adjacency(graph: Any, weight: Any = WEIGHT) -> sp.csr_array:
    """The symmetric float64 adjacency matrix; a loop stands once on the diagonal.

    `weight` is the attribute of edges that holds their weights. An edge without "weight" has weight 1;
    another attribute has to be on every edge. None gives every edge the weight 1.
    """
    if isinstance(graph, Network):
        if weight != WEIGHT:
            raise CombinationError(
                f"weight={weight!r} names an attribute of the edges of a graph, and a Network has one weight "
                "for each edge. Leave it out, or choose the column when the edges are read."
            )
        return graph.csr.astype(np.float64)  # a copy, as it is for other graphs
    if graph.is_directed():
        kind = kind_of(graph)
        raise InputError(
            f"Got a directed {kind}; similarities are symmetric. Give {UNDIRECTED[kind]}, or symmetrise its "
            "adjacency matrix, for example with (A + A.T) / 2, which keeps half of an edge that goes one way."
        )
    i, j, weights = _edges(graph, weight)
    n = len(graph_names(graph) or ())
    back = i != j
    i, j, weights = np.r_[i, j[back]], np.r_[j, i[back]], np.r_[weights, weights[back]]
    return sp.coo_array((weights, (i, j)), shape=(n, n)).tocsr()


def network_of_table(frame: Any, weight: Any = WEIGHT) -> Network:
    """The network of a DataFrame of edges: columns such as source and target, and perhaps a weight.

    Loops are dropped, with a warning. The column of weights is found whatever the case of its letters.
    Without a third column, or with the weight None, every edge has weight 1.
    """
    source, target = end_columns(frame) or tuple(frame.columns[:2])
    for column in (source, target):
        if (gaps := frame[column].isna().to_numpy()).any():
            raise InputError(f"The edge in row {int(gaps.argmax()) + 1} of the table has no {column!r}.")
    column = weight_column(frame, weight, (source, target))
    weights = None if column is None else column_numbers(frame, column)
    i, j, names = number_nodes(frame[source].to_numpy(), frame[target].to_numpy())
    network, notes = network_of_edges(i, j, weights, names)
    if dropped := [note for note in notes if "ropped" in note]:
        warn(" ".join(dropped))
    return network


def weight_column(frame: Any, weight: Any, ends: tuple[Any, Any]) -> Any:
    """The column that holds the weights, None if every edge has weight 1."""
    rest = [column for column in frame.columns if column not in ends]
    if weight is None or not rest:
        return None
    if weight in rest:
        return weight
    for column in rest:
        if str(column).strip().lower() == str(weight).lower():
            return column
    listed = ", ".join(map(repr, rest))
    raise InputError(
        f"The table of edges has no column {weight!r}; besides its ends it has {listed}. Name the one that "
        f"holds the weights, affinity_params={{'weight': {rest[0]!r}}}, or give every edge the weight 1, "
        "affinity_params={'weight': None}."
    )


def column_numbers(frame: Any, column: Any) -> Array:
    """The weights in a column as numbers."""
    try:
        return frame[column].to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        row, value = next((r, v) for r, v in enumerate(frame[column]) if np.isnan(_number(v)))
        raise InputError(
            f"Weights of edges are numbers, but row {row + 1} of column {column!r} holds {value!r:.60}."
        ) from error


def _edges(graph: Any, weight: Any) -> tuple[Any, Any, Array]:
    """The two ends of each edge, by number, and its weight."""
    weights: list[Any]
    if kind_of(graph) == "networkx graph":
        number = {name: place for place, name in enumerate(graph.nodes)}
        missing = 1 if weight == WEIGHT else None
        edges = list(graph.edges(data=weight, default=missing) if weight is not None else graph.edges)
        ends = np.array([(number[u], number[v]) for u, v, *_ in edges], dtype=np.intp).reshape(-1, 2)
        weights = [1] * len(edges) if weight is None else [edge[2] for edge in edges]
        known = weight in (None, WEIGHT) or any(value is not None for value in weights)
    else:
        ends = np.array(graph.get_edgelist(), dtype=np.intp).reshape(-1, 2)
        known = weight in (None, WEIGHT, *graph.es.attributes())
        weights = graph.es[weight] if weight in graph.es.attributes() else [1] * len(ends)
    if not known:
        raise InputError(_about_attributes(graph, weight))
    return ends[:, 0], ends[:, 1], _numbers(weights, ends, graph, weight)


def _about_attributes(graph: Any, weight: Any) -> str:
    if kind_of(graph) == "networkx graph":
        found = list(dict.fromkeys(name for _, _, data in graph.edges(data=True) for name in data))
    else:
        found = graph.es.attributes()
    listed = ", ".join(map(repr, found))
    there = f"Attributes that edges have: {listed}" if found else "They have no attributes"
    missing = f"weight={weight!r}: no edge of the graph has that attribute."
    return f"{missing} {there}; None gives each edge the weight 1."


def _numbers(weights: list[Any], ends: Array, graph: Any, weight: Any) -> Array:
    try:
        numbers = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array([_number(weight) for weight in weights])
    if np.isnan(numbers).any():
        first = int(np.isnan(numbers).argmax())
        names = graph_names(graph) or []
        u, v = (names[end] for end in ends[first])
        raise InputError(
            f"The edge attribute {weight!r} must hold a number on every edge; between {u!r} and {v!r} it "
            f"holds {weights[first]!r}."
        )
    return numbers


def _number(weight: Any) -> float:
    try:
        return float(weight)
    except (TypeError, ValueError):
        return np.nan
