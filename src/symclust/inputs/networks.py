"""Networks as similarities: graphs, adjacency matrices, and graphs whose nodes have features."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import Any

from scipy import sparse

from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.graphs import AttributedGraph, AttributedSimilarity
from symclust.inputs.choice import choose_for_network
from symclust.inputs.features import STEPS, behind, refuse_params, take_step
from symclust.inputs.similarity import Attributed, Edges, Similarity, edges_and_features
from symclust.operators import Operator, Sparse, as_operator, graph_adjacency, graph_names, network_of_table
from symclust.validation import PAIRS, check_features, check_similarity, refuse_other_names, sample_names


def adjacency(graph: Any, kind: str, params: dict[str, Any]) -> Similarity:
    """Return a graph as it is; the name of the weights is taken out of `params`."""
    weight = {key: params.pop(key) for key in ("weight",) if key in params}
    if kind == "edge table":
        graph, weight = network_of_table(graph, **weight), {}
    names = graph_names(graph)
    if not names:
        raise InputError(f"The {type(graph).__name__} has no nodes: there is nothing to cluster.")
    W = Sparse(graph_adjacency(graph, **weight))
    W.names = names
    return Similarity(W, Edges("graph"), names, "the network", source=W)


def network_of_matrix(X: Any, kind: str) -> Similarity:
    """Return the network of an adjacency matrix as it is."""
    if kind == "tensor":
        raise CombinationError(
            "affinity='network' makes a graph of its own, which is not done on a device. Say "
            "affinity='precomputed' to take a tensor as it is, or give A.cpu().numpy()."
        )
    A = read_matrix(X, kind)
    W = A if A.is_sparse else Sparse(sparse.csr_array(A.matrix))
    W.names = A.names
    check_similarity(W)
    return Similarity(W, Edges(), W.names, "the network", source=W)


def read_matrix(X: Any, kind: str) -> Operator:
    """Return similarities that were given as a matrix or a table as an operator, with their names."""
    if kind == "tensor":
        return as_operator(X)
    names = sample_names(X)
    if kind == "table" and names is not None:
        refuse_other_names(X)
    A = as_operator(check_features(X, gaps=PAIRS))
    A.names = names
    return A


def read_by_choice(network: Similarity, params: dict[str, Any], normalizes: bool) -> Similarity:
    """Return the similarity that suits a network."""
    W: Any = network.operator
    if (edge := W.negative_entry()) is not None:
        u, v = edge if network.names is None else (network.names[node] for node in edge)
        raise InputError(
            f"Negative values in data: the network has edges of negative weight, such as that between {u!r} "
            f"and {v!r}, for which there are no random walks and no normalised cut. SymmetricFactorization "
            "takes them as they are with affinity='precomputed'."
        )
    choice = choose_for_network(W, normalizes)
    options = {**choice.params, **params}
    step = take_step(choice.affinity, options) if choice.affinity in STEPS else None
    made = replace(network, words=choice.words) if step is None else behind(step, network, choice.words)
    refuse_params("a network", options)
    return made


def read_attributed(
    X: AttributedGraph, affinity: Any, params: dict[str, Any], normalizes: bool
) -> Similarity:
    """Return the similarity of nodes by their edges and features."""
    if not isinstance(affinity, str) or affinity != "auto":
        raise CombinationError(
            f"affinity={affinity!r} does not combine edges and features. Leave it out for an "
            "AttributedGraph, or give the adjacency or the features alone."
        )
    try:
        rule = AttributedSimilarity(**({"exponent": 0} if normalizes else {}) | params)
    except TypeError as error:
        raise OptionError(
            f"affinity_params={params!r} does not fit an AttributedGraph. Give a dict with any of "
            f"{', '.join(map(repr, signature(AttributedSimilarity).parameters))}."
        ) from error
    A = as_operator(rule.fit(X))
    A.names = X.names
    samples = edges_and_features(X.adjacency, X.features)
    words = (
        f"edges and features: features smoothed over {rule.smoothing_} steps, with a share of "
        f"{rule.feature_share_:g}"
    )
    return Similarity(A, Attributed(rule, samples, X.feature_names), X.names, words)
