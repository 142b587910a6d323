"""The graph of the samples that a factorization of their features is given beside them."""

from __future__ import annotations

from typing import Any

from symclust.estimators._input import Similarity, is_similarity, make_affinity, read_similarity
from symclust.exceptions import CombinationError, InputError
from symclust.operators import as_operator
from symclust.validation import check_similarity


def read_graph(graph: Any, params: dict[str, Any] | None, X: Any) -> Similarity:
    """Return the similarities of the samples X: made of them if `graph` is a name, else as given."""
    if isinstance(graph, str):
        similarity = Similarity(as_operator(make_affinity(graph, params, "graph").fit(X)))
    elif params:
        raise CombinationError(
            f"graph_params={params!r} has no meaning for a graph that is given. Leave it out, or name the "
            "graph to be made, such as graph='nearest_neighbors'."
        )
    else:
        given = graph if is_similarity(graph) else as_operator(graph)
        similarity = read_similarity(given, "precomputed", None)
    if similarity.operator.n != X.shape[0]:
        raise InputError(
            f"The graph has {similarity.operator.n} nodes, but X has {X.shape[0]} samples: "
            "it needs a node for each."
        )
    check_similarity(similarity.operator)
    return similarity
