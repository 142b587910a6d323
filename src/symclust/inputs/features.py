"""Samples × features as similarities: by affinities, by steps from their graph to another, by functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from symclust import registry
from symclust.exceptions import CombinationError, InputError, OptionError, warn
from symclust.graphs import Affinity, NormalizedCut, RandomWalk
from symclust.inputs.choice import choose_for_samples
from symclust.inputs.similarity import Called, OfSamples, Similarity, Stepped
from symclust.operators import as_operator
from symclust.validation import (
    check_features,
    kind_of,
    looks_like_similarity,
    refuse_ambiguous,
    sample_names,
    warn_of_edges,
)

PAPERS = "nearest_neighbors"  # the papers' graph of samples; of a graph that is given, their normalised cut
STEPS: dict[str, Any] = {"normalized_cut": NormalizedCut, "random_walk": RandomWalk}  # from graph to graph
BY_DISTANCE = ("nearest_neighbors", "gaussian", "self_tuning")
UNEVEN = 20  # times the median deviation: beyond, a column is in units of its own
ELSE = {  # further values of the parameter
    "affinity": "'auto', 'precomputed' (X holds the similarities), 'network' (X is an adjacency matrix), or "
    "give a function of X",
    "graph": "or give the similarities of the samples themselves",
}


def read_features(X: Any, affinity: Any, params: dict[str, Any], normalizes: bool) -> Similarity:
    """Return the similarity of samples × features; a method that `normalizes` is spared normalised cuts."""
    samples = check_features(X, copy=True)  # kept for new samples, whatever becomes of the array given
    if isinstance(affinity, str) and affinity == "auto":
        warn_of_edges(X)
        if looks_like_similarity(samples):
            refuse_ambiguous(samples)
        choice = choose_for_samples(samples, normalizes, params)
        made = _of_samples(samples, choice.affinity, {**choice.params, **params}, normalizes)
        made = replace(made, words=choice.words)
    else:
        made = _of_samples(samples, affinity, params, normalizes)
        if affinity in BY_DISTANCE and not {"scale", "metric", "views"} & set(params):
            _warn_of_units(samples, X)
    return replace(made, names=sample_names(X), source=samples)


def _warn_of_units(samples: Any, X: Any) -> None:
    """Say if one column is so much larger than the others that distances are its own."""
    spreads = np.sqrt(StandardScaler(with_mean=False).fit(samples).var_)
    spreads = np.where(spreads > 0, spreads, np.nan)
    usual = np.nanmedian(spreads) if np.isfinite(spreads).sum() > 1 else np.inf
    largest = int(np.nanargmax(spreads)) if np.isfinite(usual) else 0
    if spreads[largest] > UNEVEN * usual:
        called = repr(str(X.columns[largest])) if hasattr(X, "columns") else f"{largest}"
        warn(
            f"Column {called} varies {spreads[largest] / usual:,.0f} times as much as the middle one and "
            "decides nearly alone which samples are alike. affinity='auto' brings columns to one unit; so do "
            "affinity_params={'scale': 'standard'} for nearest_neighbors, and sklearn's StandardScaler."
        )


def _of_samples(X: Any, affinity: Any, params: dict[str, Any], normalizes: bool) -> Similarity:
    if isinstance(affinity, str) and affinity in STEPS:
        step = take_step(affinity, params)
        base = _compared(X, params.pop("of", PAPERS), params, normalizes=True)
        return behind(step, base, f"affinity={affinity!r} of {base.words}")
    return _compared(X, affinity, params, normalizes)


def _compared(X: Any, affinity: Any, params: dict[str, Any], normalizes: bool) -> Similarity:
    """Return the similarity under an affinity that is no step."""
    if callable(affinity):
        return Similarity(_call(affinity, X, params), Called(X), words="affinity is a function")
    if normalizes and isinstance(affinity, str) and affinity == PAPERS:
        params = {"normalize": False, **params}
    rule = make_affinity(affinity, params)
    A = as_operator(rule.fit(X, check_input=False))
    return Similarity(A, OfSamples(rule), words=f"affinity={affinity!r}")


def _call(affinity: Callable[..., Any], X: Any, params: dict[str, Any]) -> Any:
    operator = as_operator(affinity(X, **params))
    if operator.n != X.shape[0]:
        raise InputError(
            f"affinity returned a similarity of shape {operator.shape} for {X.shape[0]} samples: "
            "it needs one row and one column for each."
        )
    return operator


def take_step(name: str, params: dict[str, Any]) -> Any:
    """Return the step of that name with its parameters, which are taken out of `params`."""
    own = [key for key in signature(STEPS[name]).parameters if key in params]
    return STEPS[name](**{key: params.pop(key) for key in own})


def behind(step: Any, base: Similarity, words: str) -> Similarity:
    """Return the similarity behind a step from one graph to another."""
    E: Any = base.operator
    if E.is_stored:  # a step may work in place, and a matrix that was given is the user's
        E = E.matrix.copy() if base.rule.samples is None else E.matrix
    A = as_operator(step.fit(E))
    A.names = base.names
    return Similarity(A, Stepped(step, base.rule), base.names, words, base.source)


def refuse_params(what: str, params: dict[str, Any] | None) -> None:
    """Refuse parameters that are left over for similarities that are given."""
    if params:
        raise CombinationError(
            f"affinity_params={params!r} has no meaning for {what}: the similarities are there already. "
            "Leave it out, or name the affinity it belongs to."
        )


def make_affinity(affinity: Any, params: dict[str, Any] | None, parameter: str = "affinity") -> Affinity:
    """Return the affinity of that name with its parameters; `parameter` is the user's name for it."""
    # The other options of graphs/ turn a similarity into another.
    known = [name for name in registry.options("graphs") if _is_affinity(registry.resolve("graphs", name))]
    if not isinstance(affinity, str) or affinity not in known:
        given = repr(affinity) if isinstance(affinity, str | None) else f"<{type(affinity).__name__}>"
        listed = ", ".join(map(repr, known + sorted(STEPS) * (parameter == "affinity")))
        raise OptionError(f"{parameter}={given} is not known. Choose one of {listed}, {ELSE[parameter]}.")
    rule = registry.resolve("graphs", affinity)
    try:
        return rule(**(params or {}))
    except TypeError as error:
        raise OptionError(
            f"{parameter}_params={params!r} does not fit {parameter}={affinity!r}. "
            f"Give a dict with any of {', '.join(map(repr, signature(rule).parameters))}."
        ) from error


def _is_affinity(option: Any) -> bool:
    return isinstance(option, type) and issubclass(option, Affinity)


def feature_table(X: Any) -> Any:
    """Return what scikit-learn reads the number and names of features off: of an AnnData a table of them."""
    if kind_of(X) != "AnnData":
        return X
    import pandas  # which anndata is built on

    return pandas.DataFrame(columns=[str(name) for name in X.var_names])
