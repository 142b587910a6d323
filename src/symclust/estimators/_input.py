"""From what the user gives to the operator that the solvers see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from symclust import registry
from symclust.exceptions import OptionError
from symclust.graphs import Affinity, normalized_cut
from symclust.operators import Operator, as_operator, graph_names
from symclust.validation import check_features

NOT_AFFINITIES = ("normalized_cut",)  # files of graphs/ that turn a similarity into another


@dataclass(frozen=True)
class Similarity:
    """A, and what is needed to name its nodes and to place unseen samples."""

    operator: Operator
    names: list[Any] | None = None
    affinity: Affinity | None = None
    samples: Any = None


def read_similarity(X: Any, affinity: Any, params: dict[str, Any] | None) -> Similarity:
    """Return the similarity that X describes under an `affinity`.

    Operators are taken as they are. Graphs bring their own neighbours: with ``affinity="precomputed"`` they
    too are taken as they are, otherwise the remaining step of the default affinity, the normalised cut, is
    applied.
    """
    if isinstance(X, Operator):
        return Similarity(X)
    names = graph_names(X)
    if names is not None:
        return Similarity(as_operator(X if affinity == "precomputed" else normalized_cut(X)), names)
    X = check_features(X)
    if callable(affinity):
        return Similarity(as_operator(affinity(X, **(params or {}))))
    if affinity == "precomputed":
        return Similarity(as_operator(X), samples=X)
    rule = make_affinity(affinity, params)
    return Similarity(as_operator(rule.fit(X)), affinity=rule, samples=X)


def make_affinity(affinity: Any, params: dict[str, Any] | None) -> Affinity:
    """Return the affinity of that name with its parameters."""
    known = [name for name in registry.options("graphs") if name not in NOT_AFFINITIES]
    if affinity not in known:
        listed = ", ".join(repr(name) for name in [*known, "precomputed"])
        raise OptionError(
            f"affinity={affinity!r} is not known. Choose one of {listed}, or give a function of X."
        )
    try:
        return registry.resolve("graphs", affinity)(**(params or {}))
    except TypeError as error:
        raise OptionError(
            f"affinity_params={params!r} does not fit affinity={affinity!r}: {error}."
        ) from error
