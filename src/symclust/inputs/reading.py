"""From X and the words of the user, `affinity` and its parameters, to a similarity."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from symclust.exceptions import CombinationError, InputError, InputTypeError, OptionError
from symclust.graphs import NormalizedCut
from symclust.inputs.choice import OF_UNITS
from symclust.inputs.features import (
    PAPERS,
    STEPS,
    behind,
    make_affinity,
    read_features,
    refuse_params,
    take_step,
)
from symclust.inputs.networks import (
    adjacency,
    network_of_matrix,
    read_attributed,
    read_by_choice,
    read_matrix,
)
from symclust.inputs.similarity import Given, Similarity
from symclust.inputs.table_plan import plan_for
from symclust.operators import Operator, as_operator
from symclust.validation import (
    GRAPHS,
    PAIRS,
    check_features,
    check_similarity,
    is_similarity,
    kind_of,
    refuse_ambiguous,
)

CUT = "normalized_cut"
GIVEN = ("network", "precomputed")  # words for an X that holds pairs already
COMPLETE = ("gaussian", "self_tuning")  # dense n × n arrays unless they are told to keep neighbours only
NONNEGATIVE_ONLY = (*GIVEN, "cosine")  # negative numbers in X make negative similarities


def read_similarity(
    X: Any, affinity: Any, params: dict[str, Any] | None, normalizes: bool = False
) -> Similarity:
    """Return the similarity that X describes under an `affinity`.

    Operators are taken as they are. Graphs bring their own edges, which `affinity="precomputed"` takes as
    they are. A method that `normalizes` for itself is spared normalised cuts that are not asked for by name.
    """
    if params is not None and not isinstance(params, dict):
        raise OptionError(f"affinity_params={params!r} must be a dict of parameters by name, or None.")
    kind, given = kind_of(X), dict(params or {})
    name = affinity if isinstance(affinity, str) else ""
    if kind == "attributed graph":
        return read_attributed(X, affinity, given, normalizes)
    if kind in ("Dask array", "Dask table"):
        return _read_operator(_on_workers(X, kind, affinity), affinity, given)
    if kind == "operator":
        return _read_operator(X, affinity, given)
    if kind == "similarity table" and name == "auto":
        name = affinity = _affinity_of_table(X)
    if kind not in GRAPHS and not _holds_pairs(affinity, given):
        plan = plan_for(X)
        if plan is not None and name == "auto" and plan.scale != "auto" and "views" not in given:
            given = {"scale": None, **({"weights": OF_UNITS} if plan.scale else {}), **given}
        X = X if plan is None else plan.apply(X)
        similarity = read_features(X, affinity, dict(given), normalizes)
        if plan is not None:
            words = f"{similarity.words}, of the table as preparation_ has it"
            similarity = replace(similarity, preparation=plan, words=words)
    else:
        own = {"of": "precomputed"} if name in STEPS else {}
        own |= {key: value for key, value in given.items() if key not in ("weight", "of")}
        read = _read_graph if kind in GRAPHS else _read_pairs
        similarity, given = read(X, kind, affinity, given, normalizes), own
        # Another network comes as a matrix, which takes other names than a graph.
        affinity = {"auto": "network", PAPERS: "precomputed" if normalizes else CUT}.get(name, name)
    again = partial(_matrix_of, affinity=affinity, params=given, normalizes=normalizes)
    return replace(similarity, again=again)


def _matrix_of(X: Any, affinity: Any, params: dict[str, Any] | None, normalizes: bool) -> Any:
    return read_similarity(X, affinity, params, normalizes).operator.matrix


def _holds_pairs(affinity: Any, params: dict[str, Any]) -> bool:
    """Whether the affinity says that X is n × n, the similarities or edges of its samples."""
    name = affinity if isinstance(affinity, str) else ""
    return name in GIVEN or (name in STEPS and params.get("of") == "precomputed")


def _on_workers(X: Any, kind: str, affinity: Any) -> Operator:
    """Return a Dask array of similarities as an operator; nothing of it comes here."""
    if kind == "Dask table":
        raise InputTypeError(
            "X is a Dask DataFrame. For a table of edges give symclust.operators.OnDask.from_edges(X), for "
            "one of similarities X.to_dask_array(lengths=True) with affinity='precomputed'."
        )
    if isinstance(affinity, str) and affinity in ("precomputed", CUT):
        return as_operator(X)
    raise CombinationError(
        f"affinity={affinity!r} would compare the rows of a Dask array, which is not done on workers. Give "
        "similarities, n × n, with affinity='precomputed', or 'normalized_cut' to have them normalised; or "
        "X.compute() if X fits into memory."
    )


def _affinity_of_table(X: Any) -> str:
    """Return the affinity that takes a table whose rows and columns have the same names.

    Zeros on its diagonal are those of the adjacency matrix of a graph, or those of distances, which are
    refused.
    """
    A = check_features(X, gaps=PAIRS)
    n, n_nonzeros = A.shape[0], A.count_nonzero() if sparse.issparse(A) else np.count_nonzero(A)
    if A.diagonal().any() or not n_nonzeros:
        return "precomputed"
    if n_nonzeros == n * n - n:
        refuse_ambiguous(A)
    return "network"


def _read_operator(A: Operator, affinity: Any, params: dict[str, Any]) -> Similarity:
    name = affinity if isinstance(affinity, str) else ""
    if name == "network":
        raise CombinationError(
            f"affinity='network' reads an adjacency matrix or a graph, and {A!r} is an operator. Leave the "
            "affinity out to take it as it is."
        )
    step, of = _step_of(name, params)
    _check_takes_pairs(A, of if step else affinity, also=() if step else ("auto",))
    refuse_params(f"a {type(A).__name__}", params)
    given = Similarity(A, Given(), A.names, "the operator as it was given")
    return given if step is None else behind(step, given, f"affinity={name!r} of {given.words}")


def _read_graph(X: Any, kind: str, affinity: Any, params: dict[str, Any], normalizes: bool) -> Similarity:
    """Return the similarity of the nodes of a graph."""
    name = affinity if isinstance(affinity, str) else ""
    step, of = _step_of(name, params)
    _check_takes_pairs(X, of if step else affinity, also=() if step else ("auto", "network"))
    network = adjacency(X, kind, params)
    if name in ("auto", "network"):
        return read_by_choice(network, params, normalizes)
    refuse_params(f"a {type(X).__name__}", params)
    if step is not None:
        return behind(step, network, f"affinity={name!r} of the network")
    if name == "precomputed":
        return replace(network, source=None)
    return network if normalizes else behind(NormalizedCut(), network, "the normalised cut of the network")


def _read_pairs(X: Any, kind: str, name: str, params: dict[str, Any], normalizes: bool) -> Similarity:
    """Return the similarity of samples if X holds their pairs by the word of the user."""
    if name == "network":
        return read_by_choice(network_of_matrix(X, kind), params, normalizes)
    step, _ = _step_of(name, params)
    refuse_params("affinity='precomputed'", params)
    A = read_matrix(X, kind)
    given = Similarity(A, Given(), A.names, "affinity='precomputed'")
    if step is None:
        return given
    given = replace(given, source=A if A.is_stored else None)
    return behind(step, given, f"affinity={name!r} of {given.words}")


def _step_of(name: str, params: dict[str, Any]) -> tuple[Any, Any]:
    """Return the step of that name, if it is one, and the affinity before it, both taken out of `params`."""
    return (take_step(name, params), params.pop("of", "precomputed")) if name in STEPS else (None, None)


def _check_takes_pairs(X: Any, affinity: Any, also: tuple[str, ...]) -> None:
    if not isinstance(affinity, str) or affinity not in (PAPERS, "precomputed", *also):
        raise CombinationError(
            f"affinity={affinity!r} compares samples × features, but a {type(X).__name__} holds similarities "
            "already. Use affinity='precomputed' to take them as they are."
        )


def input_tags(affinity: Any, params: dict[str, Any] | None) -> dict[str, bool]:
    """Return scikit-learn's tags of X: whether it may be sparse, is pairwise, must not be negative."""
    name = affinity if isinstance(affinity, str) else ""
    given = params if isinstance(params, dict) else {}
    return {
        "sparse": name not in COMPLETE or bool(given.get("n_neighbors")),
        "pairwise": _holds_pairs(affinity, given),
        "positive_only": name in NONNEGATIVE_ONLY,
    }


def read_graph(graph: Any, params: dict[str, Any] | None, X: Any) -> Operator:
    """Return the similarities of the checked samples X: made of them if `graph` is a name, else as given."""
    if isinstance(graph, str):
        A = as_operator(make_affinity(graph, params, "graph").fit(X, check_input=False))
    elif params:
        raise CombinationError(
            f"graph_params={params!r} has no meaning for a graph that is given. Leave it out, or name the "
            "graph to be made, such as graph='nearest_neighbors'."
        )
    else:
        given = graph if is_similarity(graph) else as_operator(graph)
        A = read_similarity(given, "precomputed", None).operator
    if A.n != X.shape[0]:
        raise InputError(
            f"The graph has {A.n} nodes, but X has {X.shape[0]} samples: it needs a node for each."
        )
    check_similarity(A)
    return A
