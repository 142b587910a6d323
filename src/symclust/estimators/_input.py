"""From what the user gives to the operator that the solvers see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

from symclust import registry
from symclust.estimators._new_nodes import NewNodes
from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.graphs import Affinity, normalized_cut
from symclust.operators import Dense, Operator, Sparse, as_operator, graph_adjacency, graph_names
from symclust.validation import check_features, check_similarity, is_a

DEFAULT = "nearest_neighbors"
NOT_AFFINITIES = ("normalized_cut",)  # files of graphs/ that turn a similarity into another
ELSE = {  # what else the parameter may be
    "affinity": "'precomputed' (X holds the similarities), or give a function of X",
    "graph": "or give the similarities of the samples themselves",
}
COMPLETE = ("gaussian", "self_tuning")  # dense n × n arrays unless they are told to keep neighbours only
NONNEGATIVE_ONLY = ("precomputed", "cosine")  # negative numbers in X make negative similarities


@dataclass(frozen=True)
class Similarity:
    """A, and what is needed to name its nodes and to place unseen samples.

    Attributes
    ----------
    operator : Operator
        A.
    names : list or None
        Of the nodes of a graph.
    samples : array or None
        Training samples × features; None where A itself was given.
    extend : callable or None
        From new samples to their similarities to the training samples; None where that is not known.
    """

    operator: Operator
    names: list[Any] | None = None
    samples: Any = None
    extend: Callable[[Any], Any] | None = None

    @property
    def matrix(self) -> Any:
        """A as an ndarray or csr_array where it is one, else the operator."""
        A = self.operator
        return A.array if isinstance(A, Dense) else A.csr if isinstance(A, Sparse) else A


def is_similarity(X: Any) -> bool:
    """Whether X describes similarities by its type: an operator or a graph."""
    return isinstance(X, Operator) or graph_names(X) is not None


def read_similarity(X: Any, affinity: Any, params: dict[str, Any] | None) -> Similarity:
    """Return the similarity that X describes under an `affinity`.

    Operators are taken as they are. Graphs bring their own neighbours: with ``affinity="precomputed"`` they
    too are taken as they are, otherwise the remaining step of the default affinity, the normalised cut, is
    applied.
    """
    if is_similarity(X):
        return _read_graph(X, affinity, params)
    if callable(affinity):
        return _call(affinity, check_features(X), params or {})
    if _is_precomputed(affinity):
        _refuse_params("affinity='precomputed'", params)
        return Similarity(as_operator(_check_precomputed(X)), extend=as_given)
    rule = make_affinity(affinity, params)
    X = check_features(X)
    return Similarity(as_operator(rule.fit(X)), samples=X, extend=rule.extend)


def _read_graph(X: Any, affinity: Any, params: dict[str, Any] | None) -> Similarity:
    if not isinstance(affinity, str) or affinity not in (DEFAULT, "precomputed"):
        raise CombinationError(
            f"affinity={affinity!r} compares samples × features, but a {type(X).__name__} holds similarities "
            "already. Use affinity='precomputed' to take them as they are."
        )
    _refuse_params(f"a {type(X).__name__}", params)
    if isinstance(X, Operator):
        return Similarity(X, extend=as_given)
    names = graph_names(X)
    if not names:
        raise InputError(f"The {type(X).__name__} has no nodes: there is nothing to cluster.")
    A = Sparse(graph_adjacency(X))
    if affinity == "precomputed":
        return Similarity(A, names, extend=as_given)
    if not A.is_nonnegative():
        raise InputError(
            f"Negative values in data: the {type(X).__name__} has edges of negative weight, for which there "
            "is no normalised cut. SymmetricFactorization takes them as they are with affinity='precomputed'."
        )
    check_similarity(A)
    return Similarity(as_operator(normalized_cut(A.csr)), names, extend=NewNodes(A.csr).extend)


def _call(affinity: Callable[..., Any], X: Any, params: dict[str, Any]) -> Similarity:
    operator = as_operator(affinity(X, **params))
    if operator.n != X.shape[0]:
        raise InputError(
            f"affinity returned a similarity of shape {operator.shape} for {X.shape[0]} samples: "
            "it needs one row and one column for each."
        )
    return Similarity(operator, samples=X)


def _check_precomputed(X: Any) -> Any:
    named = is_a(X, "pandas", "DataFrame") and not is_a(X.index, "pandas", "RangeIndex")
    if named and not X.index.equals(X.columns):
        raise InputError(
            "The DataFrame's index and columns differ, so rows and columns may not be in the same order. "
            "Reorder them (df.loc[names, names]), or pass df.to_numpy() if they already agree."
        )
    return check_features(X)


def _refuse_params(what: str, params: dict[str, Any] | None) -> None:
    if params:
        raise CombinationError(
            f"affinity_params={params!r} has no meaning for {what}: the similarities are there already. "
            "Leave it out."
        )


def as_given(X: Any) -> Any:
    """Return X: the similarities of new samples to the training samples were given."""
    return X


def _is_precomputed(affinity: Any) -> bool:
    return isinstance(affinity, str) and affinity == "precomputed"


def make_affinity(affinity: Any, params: dict[str, Any] | None, parameter: str = "affinity") -> Affinity:
    """Return the affinity of that name with its parameters; `parameter` is what the user calls it."""
    known = [name for name in registry.options("graphs") if name not in NOT_AFFINITIES]
    if not isinstance(affinity, str) or affinity not in known:
        given = repr(affinity) if isinstance(affinity, str | None) else f"<{type(affinity).__name__}>"
        listed = ", ".join(map(repr, known))
        raise OptionError(f"{parameter}={given} is not known. Choose one of {listed}, {ELSE[parameter]}.")
    rule = registry.resolve("graphs", affinity)
    try:
        return rule(**(params or {}))
    except TypeError as error:
        raise OptionError(
            f"{parameter}_params={params!r} does not fit {parameter}={affinity!r}. "
            f"Give a dict with any of {', '.join(map(repr, signature(rule).parameters))}."
        ) from error


def input_tags(affinity: Any, params: dict[str, Any] | None) -> dict[str, bool]:
    """Return what scikit-learn asks about X: whether it may be sparse, is pairwise, must not be negative."""
    name = affinity if isinstance(affinity, str) else ""
    complete = name in COMPLETE and not (isinstance(params, dict) and params.get("n_neighbors"))
    return {
        "sparse": not complete,
        "pairwise": name == "precomputed",
        "positive_only": name in NONNEGATIVE_ONLY,
    }
