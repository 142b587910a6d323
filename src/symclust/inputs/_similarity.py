"""The words of the user, read in one place: what is given as X, `affinity`, `graph` and `ignore`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse

from symclust import registry
from symclust._threads import cached_property
from symclust._types import Array
from symclust.exceptions import CombinationError, InputError, InputTypeError, OptionError
from symclust.graphs import (
    Affinity,
    AttributedGraph,
    AttributedNodes,
    AttributedSimilarity,
    NormalizedCut,
    RandomWalk,
    first_of_equal,
)
from symclust.inputs._choice import choose_for_network, choose_for_samples
from symclust.operators import (
    Dense,
    DenseTensor,
    Network,
    Operator,
    Sparse,
    SparseTensor,
    as_operator,
    bordered,
    graph_adjacency,
    graph_names,
    is_dask,
    network_of_table,
)
from symclust.validation import (
    PAIRS,
    refuse_ambiguous,
    check_features,
    check_similarity,
    check_stored,
    end_columns,
    is_a,
    looks_like_similarity,
    refuse_masked,
    sample_names,
)

NEIGHBORS = "nearest_neighbors"  # what samples are compared by before a step from their graph to another
PAPERS = "nearest_neighbors"  # with a graph that is given, this means the papers' normalised cut of it
ELSE = {  # what else the parameter may be
    "affinity": "'auto', 'precomputed' (X holds the similarities), 'network' (X is an adjacency matrix), or "
    "give a function of X",
    "graph": "or give the similarities of the samples themselves",
}
STEPS = {"normalized_cut": NormalizedCut, "random_walk": RandomWalk}  # from one graph to another
GIVEN = ("network", "precomputed")  # words that say that X holds pairs already
COMPLETE = ("gaussian", "self_tuning")  # dense n × n arrays unless they are told to keep neighbours only
NONNEGATIVE_ONLY = (*GIVEN, "cosine")  # negative numbers in X make negative similarities


@dataclass(frozen=True)
class Similarity:
    """A, and what is needed to name its nodes and to place unseen samples.

    Attributes
    ----------
    operator : Operator
        A.
    names : list or None
        Of the samples: nodes of a graph, the index of a DataFrame.
    samples : array or None
        What the rows of new samples are compared with, not the user's own array: training samples ×
        features, or the edges of the training nodes. None where A itself was given, or is found from new rows
        to the bit.
    extend : callable or None
        From new samples to their similarities to the training samples; None where that is not known.
    words : str
        What was made of the input.
    read_new : callable or None
        From new samples that are no array to rows like those of `samples`; None where they are arrays.
    origin : array, Sparse or None
        What A was made of: samples × features, or a network as an operator. None where A was given.
    again : callable or None
        From other data of the kind of `origin` to their similarities.
    is_graph : bool
        Whether the samples are the nodes of a graph, given as one.
    is_network : bool
        Whether the samples are the nodes of a network, given as a graph or as an adjacency matrix.
    step : NormalizedCut, RandomWalk or None
        The step from another graph to A; None where there is none.
    grow : callable or None
        From A, as `matrix` gives it, and samples that join to the similarity of all; None where that is not
        known.
    """

    operator: Operator
    names: list[Any] | None = None
    samples: Any = None
    extend: Callable[[Any], Any] | None = None
    words: str = ""
    read_new: Callable[[Any], Any] | None = None
    origin: Any = None
    again: Callable[[Any], Any] | None = None
    is_graph: bool = False
    is_network: bool = False
    step: Any = None
    grow: Callable[[Any, Any], Similarity] | None = None

    @property
    def matrix(self) -> Any:
        """A as an ndarray, csr_array or tensor where it is one, else the operator."""
        A = self.operator
        if isinstance(A, DenseTensor | SparseTensor):
            return A.given
        return A.array if isinstance(A, Dense) else A.csr if isinstance(A, Sparse) else A

    @property
    def network(self) -> Any:
        """The network that A was made of, as a csr_array; None if there was none.

        It is not kept twice: behind a normalised cut its weights come back from A, to the last digits.
        """
        if not self.is_network:
            return None
        if self.read_new is not None:  # edges and features, side by side
            return self.samples[:, : self.operator.n]
        return self.matrix if self.step is None else self.step.before(self.matrix)

    @cached_property
    def copies(self) -> Array | None:
        """The number of the first sample that is equal to each, if samples have features."""
        is_array = isinstance(self.origin, np.ndarray) or sparse.issparse(self.origin)
        return first_of_equal(self.origin) if is_array else None

    @property
    def n_distinct(self) -> int:
        """How many samples differ from all before them."""
        return self.operator.n if self.copies is None else np.unique(self.copies).size

    def share(self, labels: Array) -> Array:
        """Return the labels with one for samples that are equal: the one that most of them have."""
        if self.copies is None:
            return labels
        votes = sparse.csr_array((np.ones(len(labels)), (self.copies, labels + 1)))  # −1 is one as well
        return votes.argmax(axis=1)[self.copies] - 1


def is_similarity(X: Any) -> bool:
    """Whether X describes similarities by its type: an operator, a graph, or a table of edges."""
    return isinstance(X, Operator | AttributedGraph) or graph_names(X) is not None or _is_edge_table(X)


def _is_edge_table(X: Any) -> bool:
    return is_a(X, "pandas", "DataFrame") and end_columns(X) is not None


def _is_operator(X: Any) -> bool:
    """Whether X is to be taken as it is; a `Network` is a graph like others."""
    return isinstance(X, Operator) and not isinstance(X, Network)


def read_similarity(
    X: Any, affinity: Any, params: dict[str, Any] | None, normalizes: bool = False
) -> Similarity:
    """Return the similarity that X describes under an `affinity`.

    Operators are taken as they are. Graphs bring their own edges, which `affinity="precomputed"` takes as
    they are. A method that `normalizes` for itself is spared normalised cuts that are not asked for by name.
    """
    given = _check_params(params)
    X, affinity = _recognise(X, affinity, given)
    if isinstance(X, AttributedGraph):
        return _read_attributed(X, affinity, given, normalizes)
    if is_similarity(X) or _holds_pairs(affinity, given):
        return _read(X, affinity, given, normalizes)
    names = sample_names(X)
    X = check_features(X, copy=True)  # kept for new samples, whatever becomes of the array given
    again = partial(_matrix_of, affinity=affinity, params=params, normalizes=normalizes)
    return replace(_read(X, affinity, given, normalizes), names=names, origin=X, again=again)


def _recognise(X: Any, affinity: Any, params: dict[str, Any]) -> tuple[Any, Any]:
    """Return a table of edges as a network, and for a table of similarities the affinity that takes them.

    In such a table rows and columns have the same names. Zeros on its diagonal are those of the adjacency
    matrix of a graph, or those of distances, which are asked about.
    """
    if is_dask(X):
        return _on_workers(X, affinity), affinity
    if is_a(X, "dask", "DataFrame"):
        raise InputTypeError(
            "X is a Dask DataFrame. For a table of edges give symclust.operators.OnDask.from_edges(X), for "
            "one of similarities X.to_dask_array(lengths=True) with affinity='precomputed'."
        )
    if _is_edge_table(X):
        return network_of_table(X, **{key: params.pop(key) for key in ("weight",) if key in params}), affinity
    if not (_is_word(affinity, "auto") and is_similarity_table(X)):
        return X, affinity
    A = check_features(X, gaps=PAIRS)
    n, n_nonzeros = A.shape[0], A.count_nonzero() if sparse.issparse(A) else np.count_nonzero(A)
    if A.diagonal().any() or not n_nonzeros:
        return X, "precomputed"
    if n_nonzeros == n * n - n:
        refuse_ambiguous(A)
    return X, "network"


def _on_workers(X: Any, affinity: Any) -> Operator:
    """Return a Dask array of similarities as an operator; nothing of it comes here."""
    if _is_word(affinity, "precomputed") or _is_word(affinity, "normalized_cut"):
        return as_operator(X)
    raise CombinationError(
        f"affinity={affinity!r} would compare the rows of a Dask array, which is not done on workers. Give "
        "similarities, n × n, with affinity='precomputed', or 'normalized_cut' to have them normalised; or "
        "X.compute() if X fits into memory."
    )


def feature_table(X: Any) -> Any:
    """Return what scikit-learn reads the number and names of features off: of an AnnData a table of them."""
    if not is_a(X, "anndata", "AnnData"):
        return X
    import pandas  # which anndata is built on

    return pandas.DataFrame(columns=[str(name) for name in X.var_names])


def is_similarity_table(X: Any) -> bool:
    """Whether X is a DataFrame whose rows have names, and whose columns have the same in the same order."""
    return is_a(X, "pandas", "DataFrame") and sample_names(X) is not None and X.index.equals(X.columns)


def trace_network(
    similarity: Similarity, X: Any, affinity: Any, params: dict[str, Any] | None, normalizes: bool
) -> Similarity:
    """Return a similarity that was made of a network with the network, and how to make it of another."""
    if is_dask(X):
        return similarity  # no network, and reading it again would have its blocks made again
    given = _check_params(params)
    X, affinity = _recognise(X, affinity, given)
    is_edges = is_similarity(X) and not (_is_operator(X) or isinstance(X, AttributedGraph))
    if not (is_edges or _holds_pairs(affinity, given)) or _is_word(affinity, "precomputed"):
        return similarity
    W = _adjacency(X, given).operator
    if _is_word(affinity, "auto"):
        affinity = "network"
    elif _is_word(affinity, PAPERS):
        affinity = "precomputed" if normalizes else "normalized_cut"
    if affinity in STEPS:
        given["of"] = "precomputed"
    again = partial(_matrix_of, affinity=affinity, params=given, normalizes=normalizes)
    return replace(similarity, origin=W, again=again)


def _matrix_of(X: Any, affinity: Any, params: dict[str, Any] | None, normalizes: bool) -> Any:
    return read_similarity(X, affinity, params, normalizes).matrix


def _holds_pairs(affinity: Any, params: dict[str, Any]) -> bool:
    """Whether the affinity says that X is n × n, the similarities or edges of its samples."""
    name = affinity if isinstance(affinity, str) else ""
    return name in GIVEN or (name in STEPS and params.get("of") == "precomputed")


def _read(X: Any, affinity: Any, params: dict[str, Any], normalizes: bool) -> Similarity:
    """Return the similarity behind X, whose features have been checked if it has some."""
    if _is_word(affinity, "auto"):
        return _read_by_choice(X, params, normalizes)
    if _is_word(affinity, "network"):
        return _read_network(_adjacency(X, params), params, normalizes)
    if isinstance(affinity, str) and affinity in STEPS:
        step = _take_step(affinity, params)
        of = params.pop("of", "precomputed" if is_similarity(X) else NEIGHBORS)
        base = _read_pairs(X, of, params, normalizes=True)
        return replace(_apply(step, base), words=f"affinity={affinity!r} of {base.words}")
    return _read_pairs(X, affinity, params, normalizes)


def _read_by_choice(X: Any, params: dict[str, Any], normalizes: bool) -> Similarity:
    if _is_operator(X):
        _refuse_params(f"a {type(X).__name__}", params)
        return _given(X, "the operator as it was given")
    if is_similarity(X):
        return _read_network(_adjacency(X, params), params, normalizes)
    if looks_like_similarity(X):
        refuse_ambiguous(X)
    choice = choose_for_samples(X, normalizes)
    return replace(_read(X, choice.affinity, {**choice.params, **params}, normalizes), words=choice.words)


def _read_network(network: Similarity, params: dict[str, Any], normalizes: bool) -> Similarity:
    W = network.operator
    assert isinstance(W, Sparse)
    if (edge := W.negative_entry()) is not None:
        u, v = edge if network.names is None else (network.names[node] for node in edge)
        raise InputError(
            f"Negative values in data: the network has edges of negative weight, such as that between {u!r} "
            f"and {v!r}, for which there are no random walks and no normalised cut. SymmetricFactorization "
            "takes them as they are with affinity='precomputed'."
        )
    choice = choose_for_network(W, normalizes)
    options = {**choice.params, **params}
    made = network if choice.affinity not in STEPS else _apply(_take_step(choice.affinity, options), network)
    _refuse_params("a network", options)
    return replace(made, words=choice.words)


def _read_attributed(
    X: AttributedGraph, affinity: Any, params: dict[str, Any], normalizes: bool
) -> Similarity:
    if not _is_word(affinity, "auto"):
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
    words = (
        f"edges and features: features smoothed over {rule.smoothing_} steps, with a share of "
        f"{rule.feature_share_:g}"
    )
    samples, n = _side_by_side(X.adjacency, X.features), X.n_nodes
    extend = partial(_extend_attributed, rule, n)
    read_new = partial(_read_new_nodes, samples, X.feature_names, n)
    return Similarity(A, X.names, samples, extend, words, read_new, is_graph=True, is_network=True)


def _side_by_side(edges: Any, features: Any) -> sparse.csr_array:
    """Return edges and features of nodes as rows of one array: what is known about each."""
    return sparse.csr_array(sparse.hstack([edges, sparse.csr_array(features)]))


def _extend_attributed(rule: AttributedSimilarity, n: int, X: sparse.csr_array) -> sparse.csr_array:
    return rule.extend(X[:, :n], X[:, n:])


def _read_new_nodes(samples: Any, feature_names: list[Any] | None, n: int, X: Any) -> sparse.csr_array:
    if not isinstance(X, AttributedNodes):
        raise InputTypeError(
            f"The model was fitted on an AttributedGraph: new nodes are given as AttributedNodes(edges, "
            f"features), with edges to its {n} nodes; got {type(X).__name__}."
        )
    d = samples.shape[1] - n
    edges = sparse.csr_array((X.features.shape[0], n)) if X.edges is None else X.edges
    for what, found, expected in (("edges", edges, n), ("features", X.features, d)):
        if found.shape[1] != expected:
            raise InputError(
                f"{what} of the new nodes has {found.shape[1]} columns, but the graph of the fit has "
                f"{expected} {'nodes' if what == 'edges' else 'features'}."
            )
    if None not in (feature_names, X.feature_names) and feature_names != X.feature_names:
        raise InputError(
            f"The columns of the new nodes' features, {X.feature_names!r:.80}, are not those of the fit, "
            f"{feature_names!r:.80}. Give the same ones in the same order."
        )
    return _side_by_side(edges, X.features).astype(samples.dtype)


def _take_step(name: str, params: dict[str, Any]) -> Any:
    """Return the step of that name with its parameters, which are taken out of `params`."""
    own = [key for key in signature(STEPS[name]).parameters if key in params]
    return STEPS[name](**{key: params.pop(key) for key in own})


def _apply(step: Any, base: Similarity) -> Similarity:
    """Return the similarity behind a step from one graph to another."""
    matrix = base.operator if base.operator.on_device else base.matrix
    if base.samples is None and not isinstance(matrix, Operator):
        matrix = matrix.copy()  # a step may work in place, and what was given is the user's
    return _behind(step, step.fit(matrix), base)


def _behind(step: Any, matrix: Any, base: Similarity) -> Similarity:
    """Return what a step has made of the graph `base`."""
    A = as_operator(matrix)
    A.names = base.names
    # The row of an old node is not found again to the bit by walking from its edges.
    samples = step.W_.csr if base.samples is None and isinstance(step, RandomWalk) else base.samples
    extend = None if base.extend is None else partial(_extend_step, step, base)
    grow = None if base.grow is None else partial(_grow_step, step, base)
    kept = {name: getattr(base, name) for name in ("names", "words", "is_graph", "is_network")}
    return Similarity(A, samples=samples, extend=extend, step=step, grow=grow, **kept)


def _extend_step(step: Any, base: Similarity, X: Any) -> Any:
    """Return the similarities of new samples behind a step."""
    assert base.extend is not None
    E = base.extend(X)
    return step.extend(E.copy() if E is X else E)


def _read_pairs(X: Any, affinity: Any, params: dict[str, Any], normalizes: bool) -> Similarity:
    """Return the similarity under an affinity that is no step: of a graph, as given, or made of samples."""
    words = f"affinity={affinity!r}" if isinstance(affinity, str) else "affinity is a function"
    if is_similarity(X):
        return _read_graph(X, affinity, params, normalizes)
    if callable(affinity):
        return replace(_call(affinity, X, params), words=words)
    if _is_word(affinity, "precomputed"):
        _refuse_params("affinity='precomputed'", params)
        A = _read_matrix(X)
        return _given(A, words)
    if normalizes and _is_word(affinity, NEIGHBORS):
        params = {"normalize": False, **params}
    rule = make_affinity(affinity, params)
    return replace(_by_rule(rule, rule.fit(X, check_input=False)), words=words)


def _read_graph(X: Any, affinity: Any, params: dict[str, Any], normalizes: bool) -> Similarity:
    if not isinstance(affinity, str) or affinity not in (PAPERS, "precomputed"):
        raise CombinationError(
            f"affinity={affinity!r} compares samples × features, but a {type(X).__name__} holds similarities "
            "already. Use affinity='precomputed' to take them as they are."
        )
    if _is_operator(X):
        _refuse_params(f"a {type(X).__name__}", params)
        return _given(X, "the operator as it was given")
    network = _adjacency(X, params)
    _refuse_params(f"a {type(X).__name__}", params)
    if affinity == "precomputed" or normalizes:
        return network
    return replace(_apply(NormalizedCut(), network), words="the normalised cut of the network")


def _adjacency(X: Any, params: dict[str, Any]) -> Similarity:
    """Return a network as it is; the name of the weights is taken out of `params`."""
    if not is_similarity(X):
        if is_a(X, "torch", "Tensor"):
            raise CombinationError(
                "affinity='network' makes a graph of its own, which is not done on a device. Say "
                "affinity='precomputed' to take a tensor as it is, or give A.cpu().numpy()."
            )
        given = _read_matrix(X)
        W = Sparse(sparse.csr_array(given.array)) if isinstance(given, Dense) else given
        W.names = given.names
        check_similarity(W)
        return _network(W, is_graph=False)
    if _is_operator(X):
        raise CombinationError(
            f"affinity='network' reads an adjacency matrix or a graph, and {X!r} is an operator. Leave the "
            "affinity out to take it as it is."
        )
    names = graph_names(X)
    if not names:
        raise InputError(f"The {type(X).__name__} has no nodes: there is nothing to cluster.")
    W = Sparse(graph_adjacency(X, **{key: params.pop(key) for key in ("weight",) if key in params}))
    W.names = names
    return _network(W, is_graph=True)


def _network(W: Operator, is_graph: bool) -> Similarity:
    network = Similarity(W, W.names, extend=_as_edges, words="the network", grow=_grow_edges)
    return replace(network, is_graph=is_graph, is_network=True)


def _as_edges(X: Any) -> sparse.csr_array:
    """Return the weights of the edges between new nodes and the graph's nodes, as given, in a fresh array."""
    return sparse.csr_array(X, copy=True)


def _call(affinity: Callable[..., Any], X: Any, params: dict[str, Any]) -> Similarity:
    operator = as_operator(affinity(X, **params))
    if operator.n != X.shape[0]:
        raise InputError(
            f"affinity returned a similarity of shape {operator.shape} for {X.shape[0]} samples: "
            "it needs one row and one column for each."
        )
    return Similarity(operator, samples=X)


def _read_matrix(X: Any) -> Operator:
    """Return similarities that were given as a matrix or a table as an operator, with their names."""
    if is_a(X, "torch", "Tensor"):
        return as_operator(X)
    names = sample_names(X)
    if names is not None and is_a(X, "pandas", "DataFrame") and not X.index.equals(X.columns):
        raise InputError(
            "The DataFrame's index and columns differ, so rows and columns may not be in the same order. "
            "Reorder them (df.loc[names, names]), or pass df.to_numpy() if they already agree."
        )
    A = as_operator(check_features(X, gaps=PAIRS))
    A.names = names
    return A


def _refuse_params(what: str, params: dict[str, Any] | None) -> None:
    if params:
        raise CombinationError(
            f"affinity_params={params!r} has no meaning for {what}: the similarities are there already. "
            "Leave it out, or name the affinity it belongs to."
        )


def _check_params(params: Any) -> dict[str, Any]:
    """Return the parameters of an affinity as a dict of our own."""
    if params is not None and not isinstance(params, dict):
        raise OptionError(f"affinity_params={params!r} must be a dict of parameters by name, or None.")
    return dict(params or {})


def _given(A: Operator, words: str) -> Similarity:
    """Return similarities that are taken as they are; only a matrix can take in further rows."""
    grow = _grow_given if isinstance(A, Dense | Sparse) else None
    return Similarity(A, A.names, extend=as_given, words=words, grow=grow)


def _by_rule(rule: Affinity, A: Any) -> Similarity:
    """Return what an affinity has made of its samples."""
    extend = partial(rule.extend, check_input=False)
    return Similarity(as_operator(A), samples=rule.X_, extend=extend, grow=partial(_grow_samples, rule))


def as_given(X: Any) -> Any:
    """Return X: the similarities of new samples to the training samples were given."""
    return X


# Samples that join ------------------------------------------------------------------------------------------


def join_samples(similarity: Similarity, X: Any, names: list[Any] | None) -> Similarity:
    """Return the similarity once samples have joined: rows of features, or of similarities to all."""
    assert similarity.grow is not None
    grown = similarity.grow(similarity.matrix, X)
    grown.operator.names = names
    origin = None if similarity.origin is None else grown.samples
    kept = {name: getattr(similarity, name) for name in ("words", "again", "is_graph", "is_network")}
    return replace(grown, names=names, origin=origin, **kept)


def _grow_given(A: Any, B: Any) -> Similarity:
    return _given(as_operator(bordered(A, B)), "")


def _grow_edges(A: Any, B: Any) -> Similarity:
    return replace(_grow_given(A, B), extend=_as_edges, grow=_grow_edges)


def _grow_samples(rule: Affinity, A: Any, X: Any) -> Similarity:
    return _by_rule(*rule.grown(A, X))


def _grow_step(step: Any, base: Similarity, A: Any, X: Any) -> Similarity:
    assert base.grow is not None
    grown = base.grow(step.before(A), X)
    step, matrix = step.grown(A, grown.matrix)
    return _behind(step, matrix, grown)


def _is_word(affinity: Any, word: str) -> bool:
    return isinstance(affinity, str) and affinity == word


def make_affinity(affinity: Any, params: dict[str, Any] | None, parameter: str = "affinity") -> Affinity:
    """Return the affinity of that name with its parameters; `parameter` is what the user calls it."""
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


def input_tags(affinity: Any, params: dict[str, Any] | None) -> dict[str, bool]:
    """Return what scikit-learn asks about X: whether it may be sparse, is pairwise, must not be negative."""
    name = affinity if isinstance(affinity, str) else ""
    given = params if isinstance(params, dict) else {}
    complete = name in COMPLETE and not given.get("n_neighbors")
    return {
        "sparse": not complete,
        "pairwise": _holds_pairs(affinity, given),
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
    mask = sparse.csr_array(
        check_stored(ignore, "ignore") if sparse.issparse(ignore) else _mask_array(ignore)
    )
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
    if is_dask(ignore):
        raise InputTypeError(
            "ignore is a Dask array, and pairs to be ignored are kept in memory. Give a SciPy sparse mask, "
            "or ignore.compute() if n × n numbers fit."
        )
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
            f"the same holds for {lonely.nnz // 2 - 1} others. Use mask + mask.T."
        )
