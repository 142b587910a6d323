"""Graphs whose nodes have features, and one similarity made of edges and features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from symclust._threads import single_threaded_libraries
from symclust._types import Array, Features
from symclust.exceptions import InputError, InputTypeError
from symclust.graphs._lengths import unit_rows
from symclust.graphs._smoothing import Evidence, Smoother, center, weigh_evidence
from symclust.graphs.cosine import Cosine
from symclust.graphs.normalized_cut import NormalizedCut
from symclust.graphs.random_walk import RandomWalk
from symclust.operators import Sparse, as_operator, graph_names
from symclust.validation import check_features, check_number, check_similarity, is_a

__all__ = ["AttributedGraph", "AttributedNodes", "AttributedSimilarity", "attributed_similarity"]

NEIGHBORS = 100  # at most, by features, unless told otherwise
RANK = 256  # more features than this are reduced to this many: smoothing costs an array of n × RANK


class AttributedGraph:
    """A graph whose nodes have features, as input of every estimator on a similarity.

    Parameters
    ----------
    graph : networkx or igraph graph, sparse matrix, ndarray or DataFrame of shape (n, n)
        The edges: undirected, weights of at least 0. Loops are left out.
    features : array-like, sparse matrix or DataFrame of shape (n, d)
        One row per node. A DataFrame for a graph whose nodes have names is reordered by its index,
        which must name every node once; other rows are in the order of the nodes.
    weight : str or None, default="weight"
        For a networkx or igraph graph, the attribute of edges that holds their weights; None gives every
        edge the weight 1.

    Attributes
    ----------
    adjacency : csr_array of shape (n, n)
        Weights of the edges, in the precision of the features; a copy.
    features : ndarray or csr_array of shape (n, d)
        In the order of the nodes; a copy.
    names : list or None
        Of the nodes, where the graph has names.
    feature_names : list or None
        Columns of the DataFrame.

    See Also
    --------
    AttributedNodes : nodes that join later, for `predict`.
    symclust.graphs.attributed_similarity : the similarity that estimators compute from it.

    Examples
    --------
    >>> import networkx as nx
    >>> import pandas as pd
    >>> from symclust import AttributedGraph
    >>> friends = nx.Graph([("ann", "bob"), ("bob", "cem")])
    >>> ages = pd.DataFrame({"age": [51, 29, 27]}, index=["cem", "ann", "bob"])
    >>> graph = AttributedGraph(friends, ages)
    >>> graph
    <AttributedGraph of 3 nodes, 2 edges, 1 feature>
    >>> graph.names, graph.features.ravel().tolist()
    (['ann', 'bob', 'cem'], [29.0, 27.0, 51.0])
    """

    def __init__(self, graph: Any, features: Any, *, weight: Any = "weight") -> None:
        self.names = list(graph.index) if is_a(graph, "pandas", "DataFrame") else graph_names(graph)
        edges = _read_edges(graph, weight)
        self.feature_names = _columns(features)
        self.features = check_features(_in_order(features, self.names), name="features", copy=True)
        if self.features.shape[0] != edges.shape[0]:
            raise InputError(
                f"The graph has {edges.shape[0]} nodes, but features has {self.features.shape[0]} rows: give "
                "one row for each node, in the order of the nodes."
            )
        self.adjacency = edges.astype(self.features.dtype)

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return self.adjacency.shape[0]

    def __repr__(self) -> str:
        d = self.features.shape[1]
        edges = self.adjacency.nnz // 2
        return f"<AttributedGraph of {self.n_nodes} nodes, {edges} edges, {d} feature{'s' * (d != 1)}>"


class AttributedNodes:
    """Nodes that join an attributed graph after the fit, as input of `predict` and `transform`.

    Parameters
    ----------
    edges : array-like or sparse matrix of shape (m, n), or None
        Weights of the edges from each of the m new nodes to the n nodes of the graph; None where they have
        none.
    features : array-like, sparse matrix or DataFrame of shape (m, d)
        Their features, with the same columns as those of the graph.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import AttributedGraph, AttributedNodes, SymNMF
    >>> pairs = np.kron(np.eye(2), np.ones((12, 12)))
    >>> marks = np.kron(np.eye(2), np.ones((12, 3))) + np.random.default_rng(0).random((24, 6)) / 10
    >>> model = SymNMF(2, random_state=0).fit(AttributedGraph(pairs, marks))
    >>> new = AttributedNodes(edges=pairs[[0, 23]] * 2, features=marks[[0, 23]])
    >>> bool((model.predict(new) == model.labels_[[0, 23]]).all())
    True
    """

    def __init__(self, edges: Any, features: Any) -> None:
        self.feature_names = _columns(features)
        self.features = check_features(features, name="features")
        self.edges = None if edges is None else sparse.csr_array(check_features(edges, name="edges"))
        if self.edges is None:
            return
        if self.edges.shape[0] != self.features.shape[0]:
            raise InputError(
                f"edges has {self.edges.shape[0]} rows, but features has {self.features.shape[0]}: both need "
                "one for each new node."
            )
        if self.edges.data.min(initial=0) < 0:
            raise InputError(
                f"Negative values in data: weights of edges are at least 0, but the smallest is "
                f"{self.edges.data.min():.3g}."
            )

    def __repr__(self) -> str:
        return f"<AttributedNodes: {self.features.shape[0]} new, {self.features.shape[1]} features>"


def _read_edges(graph: Any, weight: Any) -> sparse.csr_array:
    """Return the weights of the edges, checked, without loops."""
    if isinstance(graph, AttributedGraph):
        raise InputTypeError("graph is an AttributedGraph already. Give its adjacency, or the graph itself.")
    if graph_names(graph) == []:
        raise InputError(f"The {type(graph).__name__} has no nodes: there is nothing to cluster.")
    operator = as_operator(graph, weight=weight)
    if not operator.is_stored:
        raise InputTypeError(f"{operator!r} holds no edges one by one. Give a graph or a sparse matrix.")
    W = Sparse(sparse.csr_array(operator.matrix, copy=True))
    W.names = operator.names
    check_similarity(W)
    edges = W.csr.tocoo()
    kept = (edges.row != edges.col) & (edges.data != 0)
    return sparse.csr_array((edges.data[kept], (edges.row[kept], edges.col[kept])), shape=edges.shape)


def _columns(features: Any) -> list[Any] | None:
    return list(features.columns) if is_a(features, "pandas", "DataFrame") else None


def _in_order(features: Any, names: list[Any] | None) -> Any:
    """Return the features in the order of the nodes: by name, where both have names."""
    if names is None or not is_a(features, "pandas", "DataFrame"):
        return features
    index = features.index
    known = set(names)
    unknown = [name for name in index if name not in known]
    missing = sorted(known.difference(index), key=str)
    twice = list(index[index.duplicated()])
    for found, what in (
        (missing, "has no row for these nodes of the graph"),
        (unknown, "has rows that name no node of the graph"),
        (twice, "names these nodes more than once"),
    ):
        if found:
            listed = ", ".join(map(repr, found[:3])) + (", ..." if len(found) > 3 else "")
            raise InputError(
                f"The index of features {what}: {listed} ({len(found)} in all). It must name each node once; "
                "give features.to_numpy() if its rows are in the order of the nodes."
            )
    return features.loc[names]


# The similarity ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class AttributedSimilarity:
    """The rule behind `attributed_similarity`, with `extend` for nodes that join later.

    `smoothing_` is the number of steps taken, and `feature_share_` the share of the features. `evidence_` is
    that of hidden edges; None if nothing was to be chosen.
    """

    smoothing: int | str = "auto"
    feature_share: float | str = "auto"
    n_neighbors: int | None = None
    window: int = 5
    n_kept: int = 100
    exponent: float = 0.4

    def fit(self, graph: AttributedGraph) -> sparse.csr_array:
        """Return the similarity of the nodes; `extend` goes on from there."""
        self._check_options()
        if not isinstance(graph, AttributedGraph):
            raise InputTypeError(f"Expected an AttributedGraph, got {type(graph).__name__}.")
        W, self._space = graph.adjacency, FeatureSpace()
        self._features, self._smoother = self._space.fit(graph.features), Smoother(W)
        self._choose(W)
        self._walks = [Walks(self.window, self.n_kept, self.exponent) for _ in range(2)]
        parts = [walks.fit(G) for walks, G in zip(self._walks, (W, self._neighbors()), strict=True)]
        return self._weighted(parts)

    def extend(self, edges: sparse.csr_array, features: Features) -> sparse.csr_array:
        """Return the similarities of new nodes to those of `fit`, which do not change.

        `edges` (m × n) are the weights of the edges from the m new nodes to the n nodes of `fit`.
        """
        edges = sparse.csr_array(edges, dtype=self._features.dtype)
        new = self._space.transform(features)
        new = self._smoother.extend(self._features, edges, new, self.smoothing_)
        E = _positive(self._cosine.extend(center(new, self._mean), check_input=False))
        return self._weighted([walks.extend(G) for walks, G in zip(self._walks, (edges, E), strict=True)])

    def _check_options(self) -> None:
        if self.smoothing != "auto":
            check_number("smoothing", self.smoothing, least=0, most=1000, whole=True)
        if self.feature_share != "auto":
            check_number("feature_share", self.feature_share, least=0, most=1)
        if self.n_neighbors is not None:
            check_number("n_neighbors", self.n_neighbors, least=1, whole=True)

    def _choose(self, W: sparse.csr_array) -> None:
        """Set the steps and the share: as given, else by the evidence of hidden edges."""
        self.evidence_ = None
        share, steps = self.feature_share, self.smoothing
        if "auto" in (share, steps):
            self.evidence_ = weigh_evidence(W, self._features)
            share = _share_by(self.evidence_, W.nnz > 0) if share == "auto" else share
            # Edges that are left out are none to smooth over either.
            steps = (0 if share == 1 else self.evidence_.steps) if steps == "auto" else steps
        self.feature_share_, self.smoothing_ = float(share), int(steps)

    def _neighbors(self) -> sparse.csr_array:
        """Return the positive cosines of smoothed features between nodes and those most similar to them."""
        *_, Z = self._smoother.path(self._features, self.smoothing_)
        self._mean = Z.mean(axis=0)
        q = self.n_neighbors or min(NEIGHBORS, int(2 * math.sqrt(len(Z))))
        self._cosine = Cosine(max(1, min(q, len(Z) - 1)))
        return _positive(self._cosine.fit(center(Z, self._mean), check_input=False))

    def _weighted(self, parts: list[sparse.csr_array]) -> sparse.csr_array:
        """Return the similarities by edges and by features in their shares."""
        share = self._features.dtype.type(self.feature_share_)
        return sparse.csr_array(parts[0] * (1 - share) + parts[1] * share)


def _share_by(evidence: Evidence, has_edges: bool) -> float:
    """Return the share of the features: half if they and the edges are related."""
    if not has_edges:
        return 1.0
    if evidence.are_related:
        return 0.5
    if evidence.is_structured:
        return 0.0
    return 1.0 if evidence.is_telling else 0.5


class Walks:
    """Nodes of one graph compared by random walks, with the normalised cut, in unit Frobenius norm."""

    def __init__(self, window: int, n_kept: int, exponent: float) -> None:
        self._walk, self._cut = RandomWalk(window, n_kept), NormalizedCut(exponent)

    def fit(self, W: sparse.csr_array) -> sparse.csr_array:
        """Return the similarities of the nodes of W."""
        A = self._cut.fit(self._walk.fit(W))
        norm = float(np.sqrt(np.square(A.data, dtype=np.float64).sum()))
        self._scale = W.dtype.type(1 / norm if norm > 0 else 1)
        return A * self._scale

    def extend(self, edges: sparse.csr_array) -> sparse.csr_array:
        """Return those of new nodes, given by their edges to the nodes of W, to these."""
        return self._cut.extend(self._walk.extend(edges)) * self._scale


def _positive(E: sparse.csr_array) -> sparse.csr_array:
    E.data[E.data < 0] = 0
    E.eliminate_zeros()
    return E


def attributed_similarity(
    graph: AttributedGraph,
    smoothing: int | str = "auto",
    feature_share: float | str = "auto",
    n_neighbors: int | None = None,
    window: int = 5,
    n_kept: int = 100,
    exponent: float = 0.4,
) -> sparse.csr_array:
    r"""Similarity of nodes by their edges and their features together.

    1. Features become comparable: words (features of at least 0 that mostly are 0) are weighted by tf-idf and
       rows scaled to length 1; other features are centred. More than 256 are reduced to 256 by their
       singular vectors.
    2. They are smoothed t times over the edges,
       :math:`Z \leftarrow \frac12 (I + D^{-1/2}(W+I)D^{-1/2}) Z` (Zhang and others 2019), and centred.
    3. Each node is joined to the `n_neighbors` others with the largest cosines, as far as these are positive.
    4. The nodes are compared by `random_walk` and `normalized_cut` twice, on the edges and on the graph of
       step 3. Both results are scaled to unit Frobenius norm, and their weighted mean is the similarity.

    Parameters
    ----------
    graph : AttributedGraph
    smoothing : int or "auto", default="auto"
        The number of steps t. "auto" hides a tenth of the edges, ten times, and takes the least t from 0 to 8
        with which the cosine of a hidden edge's ends exceeds that of a pair by chance nearly as often (within
        .01) as with the best.
    feature_share : float from 0 to 1 or "auto", default="auto"
        The share of the features in step 4: 0 leaves them out, 1 the edges. "auto" takes 1/2 if features, as
        they are or smoothed, predict hidden edges better than features exchanged among the nodes, beyond
        three standard errors, or if there are too few edges to tell. Otherwise only one of the two counts:
        the edges, if walks without the hidden ones predict these, else the features.
    n_neighbors : int or None, default=None
        Neighbours by features; None takes 2√n, and 100 at most.
    window, n_kept : int
        Of `random_walk`.
    exponent : float, default=0.4
        Of `normalized_cut`.

    Returns
    -------
    A : csr_array of shape (n, n)
        Symmetric, nonnegative, with zero diagonal; in the precision of the features.

    Notes
    -----
    No n × n array is made; besides the result there are arrays of n × min(d, 256) numbers. On large graphs
    finding neighbours takes longest: it compares all pairs of rows in blocks.

    References
    ----------
    X. Zhang, H. Liu, Q. Li and X.-M. Wu, "Attributed graph clustering via adaptive graph convolution",
    IJCAI 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import AttributedGraph
    >>> from symclust.datasets import planted_partition
    >>> from symclust.graphs import attributed_similarity
    >>> W, y = planted_partition(120, 3, degree=10, random_state=0)
    >>> features = np.eye(3)[y] + np.random.default_rng(0).standard_normal((120, 3))
    >>> A = attributed_similarity(AttributedGraph(W, features), n_neighbors=20)
    >>> inside = y[:, None] == y
    >>> bool(A.toarray()[inside].mean() > 3 * A.toarray()[~inside].mean())
    True
    """
    rule = AttributedSimilarity(smoothing, feature_share, n_neighbors, window, n_kept, exponent)
    return rule.fit(graph)


class FeatureSpace:
    """Features as an array of at most RANK columns whose rows compare well by cosines.

    New rows are treated like those of `fit`: the same weights, the same singular vectors.
    """

    def fit(self, X: Features) -> Array:
        """Return the rows of X in that form."""
        self._are_words = _are_words(X)
        self._learn(X)
        X = self._weigh(X)
        self._basis = _singular_vectors(X) if X.shape[1] > RANK else None
        return self._reduce(X)

    def transform(self, X: Features) -> Array:
        """Return new rows in the form of those of `fit`."""
        return self._reduce(self._weigh(X))

    def _learn(self, X: Features) -> None:
        n, d = X.shape
        if self._are_words:
            found = np.bincount(sparse.csr_array(X).nonzero()[1], minlength=d)
            self._idf = (np.log((1 + n) / (1 + found)) + 1).astype(X.dtype)
        else:
            self._mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel().astype(X.dtype)

    def _weigh(self, X: Features) -> Features:
        if self._are_words:
            return unit_rows(sparse.csr_array(sparse.csr_array(X) @ sparse.diags_array(self._idf)))
        return (X.toarray() if sparse.issparse(X) else X) - self._mean

    def _reduce(self, X: Features) -> Array:
        with single_threaded_libraries():
            if self._basis is not None:
                X = X @ self._basis
        return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X)


def _are_words(X: Features) -> bool:
    """Whether no feature is negative and most are zero: counts, marks or weights of words."""
    values = X.data if sparse.issparse(X) else X
    return bool(values.min(initial=0) >= 0 and 2 * np.count_nonzero(values) < X.shape[0] * X.shape[1])


def _singular_vectors(X: Features) -> Array:
    """Return the leading right singular vectors as columns, the same on every run."""
    with single_threaded_libraries():
        vectors = randomized_svd(X, min(RANK, *X.shape), n_iter=4, random_state=0)[2]
    return np.ascontiguousarray(vectors.T.astype(X.dtype, copy=False))
