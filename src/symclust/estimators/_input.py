"""The words of the user, read in one place: what is given as X, `affinity`, `graph` and `ignore`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse

from symclust import registry
from symclust._types import Array
from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.graphs import Affinity, NormalizedCut
from symclust.operators import Dense, Operator, Sparse, as_operator, graph_adjacency, graph_names
from symclust.validation import PAIRS, check_features, check_similarity, is_a, refuse_masked

DEFAULT = "nearest_neighbors"
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
        Training samples × features, not the user's own array; None where A itself was given.
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
        return _call(affinity, check_features(X, copy=True), params or {})
    if _is_word(affinity, "precomputed"):
        _refuse_params("affinity='precomputed'", params)
        return Similarity(as_operator(_check_precomputed(X)), extend=as_given)
    rule = make_affinity(affinity, params)
    X = check_features(X, copy=True)  # kept for new samples, whatever becomes of the array given
    A = as_operator(rule.fit(X, check_input=False))
    return Similarity(A, samples=X, extend=partial(rule.extend, check_input=False))


def without_normalizing(X: Any, affinity: Any, params: Any) -> tuple[Any, dict[str, Any] | None]:
    """Return the affinity and parameters for a method that wants the default without its normalised cut."""
    if not _is_word(affinity, DEFAULT):
        return affinity, params
    return ("precomputed", params) if is_similarity(X) else (affinity, {"normalize": False, **(params or {})})


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
    A.names = names
    if affinity == "precomputed":
        return Similarity(A, names, extend=as_given)
    if (edge := A.negative_entry()) is not None:
        u, v = (names[node] for node in edge)
        raise InputError(
            f"Negative values in data: the {type(X).__name__} has edges of negative weight, such as that "
            f"between {u!r} and {v!r}, for which there is no normalised cut. SymmetricFactorization takes "
            "them as they are with affinity='precomputed'."
        )
    cut = NormalizedCut()
    return Similarity(as_operator(cut.fit(A.csr)), names, extend=partial(_extend_graph, cut))


def _extend_graph(cut: NormalizedCut, X: Any) -> sparse.csr_array:
    """Return the similarities of new nodes, given by the weights of their edges to the graph's nodes."""
    return cut.extend(sparse.csr_array(X, dtype=cut.degrees_.dtype, copy=True))


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
    return check_features(X, gaps=PAIRS)


def _refuse_params(what: str, params: dict[str, Any] | None) -> None:
    if params:
        raise CombinationError(
            f"affinity_params={params!r} has no meaning for {what}: the similarities are there already. "
            "Leave it out."
        )


def as_given(X: Any) -> Any:
    """Return X: the similarities of new samples to the training samples were given."""
    return X


def _is_word(affinity: Any, word: str) -> bool:
    return isinstance(affinity, str) and affinity == word


def make_affinity(affinity: Any, params: dict[str, Any] | None, parameter: str = "affinity") -> Affinity:
    """Return the affinity of that name with its parameters; `parameter` is what the user calls it."""
    # The other options of graphs/ turn a similarity into another.
    known = [name for name in registry.options("graphs") if _is_affinity(registry.resolve("graphs", name))]
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


def _is_affinity(option: Any) -> bool:
    return isinstance(option, type) and issubclass(option, Affinity)


def input_tags(affinity: Any, params: dict[str, Any] | None) -> dict[str, bool]:
    """Return what scikit-learn asks about X: whether it may be sparse, is pairwise, must not be negative."""
    name = affinity if isinstance(affinity, str) else ""
    complete = name in COMPLETE and not (isinstance(params, dict) and params.get("n_neighbors"))
    return {
        "sparse": not complete,
        "pairwise": name == "precomputed",
        "positive_only": name in NONNEGATIVE_ONLY,
    }


def read_graph(graph: Any, params: dict[str, Any] | None, X: Any) -> Similarity:
    """Return the similarities of the checked samples X: made of them if `graph` is a name, else as given."""
    if isinstance(graph, str):
        similarity = Similarity(as_operator(make_affinity(graph, params, "graph").fit(X, check_input=False)))
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


def read_ignored(ignore: Any, n: int) -> sparse.csr_array:
    """Return the mask of ignored pairs as a canonical CSR pattern of ones without its diagonal."""
    mask = sparse.csr_array(ignore) if sparse.issparse(ignore) else sparse.csr_array(_mask_array(ignore))
    if mask.shape != (n, n):
        raise InputError(
            f"ignore has shape {mask.shape}, but there are {n} samples: give a symmetric mask of shape "
            f"({n}, {n}), nonzero at the pairs that carry no information."
        )
    rows, columns = mask.nonzero()
    away = rows != columns
    pattern = sparse.csr_array((np.ones(away.sum()), (rows[away], columns[away])), shape=(n, n))
    pattern.sum_duplicates()
    pattern.data[:] = 1
    _check_both_ways(pattern)
    return pattern


def _mask_array(ignore: Any) -> Array:
    refuse_masked(ignore, name="ignore", gaps="Give a mask of zeros and ones: ones at pairs to be ignored.")
    array = np.asarray(ignore)
    if array.ndim != 2 or array.dtype.kind not in "bifu":
        raise InputError(
            f"ignore must be a sparse or dense mask with two dimensions, or None; got "
            f"{type(ignore).__name__} with {array.ndim} dimensions and dtype {array.dtype}."
        )
    return array


def _check_both_ways(pattern: sparse.csr_array) -> None:
    lonely = (pattern - pattern.T).tocoo()
    lonely.eliminate_zeros()
    if lonely.nnz:
        i, j = int(lonely.coords[0][0]), int(lonely.coords[1][0])
        raise InputError(
            f"ignore is not symmetric: only one of the pairs ({i}, {j}) and ({j}, {i}) is in it, and "
            f"{lonely.nnz // 2 - 1} others likewise. Use mask + mask.T."
        )
