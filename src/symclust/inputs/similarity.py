"""A similarity as estimators keep it, and the rule for further samples: a class for each way it was made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from symclust._labels import NOWHERE
from symclust._threads import cached_property
from symclust._types import Array
from symclust.exceptions import CombinationError, InputError, InputTypeError
from symclust.graphs import (
    Affinity,
    AttributedNodes,
    AttributedSimilarity,
    NearestNeighbors,
    RandomWalk,
    first_of_equal,
    unit_rows,
)
from symclust.hierarchy import LeafGraph, raise_likelihood
from symclust.inputs.choice import are_documents
from symclust.inputs.document_clusters import document_clusters, topic_leaves
from symclust.inputs.table_plan import TablePlan
from symclust.operators import Operator, Sparse, as_operator, bordered

# A descent from a clustering is done when an iteration moves at most this share of the samples: going on
# until it is stationary lost .01 to .02 of NMI on labelled vectors, since columns become smooth bumps.
SETTLED = 0.005
# The same in a network of many similarities, where an iteration takes as long as the tree before it, and
# moves by likelihood, which follow, change half of the labels.
NEARLY, MANY = 0.05, 1 << 20


class Rule(ABC):
    """The way from further samples to their similarities to the training samples; it holds no A.

    `origin` is "samples", "pairs", "adjacency matrix" or "graph". `samples` are the rows that new ones are
    compared with, not the user's own array: training samples × features, or the edges of the training nodes.
    They are None if A itself was given, or is found from new rows to the bit.
    """

    origin: str
    samples: Any = None
    obstacle: ClassVar[str] = ""  # the reason why samples cannot join

    @property
    def features(self) -> Any:
        """Training samples × features; None if they were given by pairs."""
        return self.samples if self.origin == "samples" else None

    @property
    def is_network(self) -> bool:
        """Whether the samples are nodes of a network."""
        return self.origin in ("adjacency matrix", "graph")

    @abstractmethod
    def extend(self, X: Any) -> Any:
        """Return the similarities of new samples to the training samples, as rows."""

    def check_growth(self, A: Operator) -> None:
        """Refuse samples that join A if this rule cannot take them in."""
        if self.obstacle:
            raise CombinationError(self.obstacle)

    def grown(self, A: Any, X: Any) -> tuple[Rule, Any]:
        """Return the rule and the matrix A once samples have joined: rows of features, or of pairs."""
        raise NotImplementedError

    def network(self, A: Any) -> Any:
        """Return the network that A was made of."""
        return A

    def graph(self, A: Any) -> Any:
        """Return the graph that A was made of, before degrees were divided out of its weights."""
        return A

    def settled(self, A: Operator) -> float:
        """Share of the samples that may still move when a descent ends before labels are refined."""
        return SETTLED

    @property
    def moves_once_settled(self) -> bool:
        """Whether labels are improved only if they have settled, and not if H has to be stationary."""
        return False

    def refined(
        self, A: Operator, labels: Array, n_clusters: int, rng: np.random.RandomState
    ) -> Array | None:
        """Labels improved by a rule of the data, None without one; −1 stands for samples in no cluster."""
        return None


class Given(Rule):
    """Similarities that are taken as they are."""

    origin: str = "pairs"

    def extend(self, X: Any) -> Any:
        """Return X, which holds the similarities."""
        return X

    def check_growth(self, A: Operator) -> None:
        """Refuse operators: only a matrix can take in further rows."""
        if not A.is_stored:
            raise CombinationError(
                f"partial_fit adds rows to a matrix of similarities, and {A!r} is not held as one. Fit anew, "
                "with an array or a sparse matrix."
            )

    def grown(self, A: Any, X: Any) -> tuple[Rule, Any]:
        """Return A with the rows and columns of the samples that join."""
        return self, as_operator(bordered(A, X)).matrix


@dataclass(frozen=True, eq=False)
class Edges(Given):
    """The edges of a network as they are."""

    origin: str = "adjacency matrix"

    def extend(self, X: Any) -> sparse.csr_array:
        """Return the weights of the edges of new nodes, as given, in a fresh array."""
        return sparse.csr_array(X, copy=True)

    def settled(self, A: Operator) -> float:
        """Return a larger share if there are many similarities."""
        return NEARLY if isinstance(A, Sparse) and A.values.size > MANY else SETTLED

    def refined(self, A: Operator, labels: Array, n_clusters: int, rng: np.random.RandomState) -> Array:
        """Return labels after moves by likelihood."""
        return _moved_by_likelihood(A, labels, n_clusters, rng)


@dataclass(frozen=True, eq=False)
class OfSamples(Rule):
    """Samples × features compared by an affinity."""

    affinity: Affinity
    origin = "samples"

    @property
    def samples(self) -> Any:
        """The training samples × features."""
        return self.affinity.X_

    def extend(self, X: Any) -> Any:
        """Return the similarities of new samples."""
        return self.affinity.extend(X, check_input=False)

    def grown(self, A: Any, X: Any) -> tuple[Rule, Any]:
        """Return the similarities of the training samples and those that join."""
        affinity, A = self.affinity.grown(A, X)
        return OfSamples(affinity), A

    def graph(self, A: Any) -> Any:
        """Return the graph before the normalised cut, with its weights to the last digits."""
        return self.affinity.before(A)

    @property
    def are_documents(self) -> bool:
        """Whether the samples are compared as documents are."""
        affinity = self.affinity
        by_cosines = isinstance(affinity, NearestNeighbors) and affinity.weights == "cosine"
        return by_cosines and are_documents(self.samples)

    @property
    def moves_once_settled(self) -> bool:
        """True but for documents."""
        return not self.are_documents

    def refined(
        self, A: Operator, labels: Array, n_clusters: int, rng: np.random.RandomState
    ) -> Array | None:
        """Return clusters of documents whose sizes two halves of the words agree on.

        Other samples move by likelihood in the graph of their neighbours, as in a tree.
        """
        if not self.are_documents:
            W = as_operator(self.graph(A.matrix)) if isinstance(A, Sparse) else None
            return None if W is None else _moved_by_likelihood(W, labels, n_clusters, rng)
        affinity: Any = self.affinity
        X = sparse.csr_array(unit_rows(affinity.measured(self.samples)))
        placed = np.flatnonzero((np.diff(X.indptr) > 0) & (labels >= 0))
        X, graph = X[placed], as_operator(A.matrix[placed][:, placed])
        found = document_clusters(X, n_clusters, rng, [topic_leaves(X, n_clusters, rng)], graph)
        if found is None:
            return None
        refined = np.full_like(labels, NOWHERE)
        refined[placed] = found
        return refined


@dataclass(frozen=True, eq=False)
class Stepped(Rule):
    """A step, `NormalizedCut` or `RandomWalk`, from the graph of another rule to A."""

    step: Any
    base: Rule

    @property
    def samples(self) -> Any:
        """Those of the base; edges if it has none, since no walk finds the row of an old node to the bit."""
        walks = self.base.samples is None and isinstance(self.step, RandomWalk)
        return self.step.W_.csr if walks else self.base.samples

    @property
    def origin(self) -> str:  # type: ignore[override]
        """That of the base."""
        return self.base.origin

    def extend(self, X: Any) -> Any:
        """Return the similarities of new samples behind the step."""
        E = self.base.extend(X)
        return self.step.extend(E.copy() if E is X else E)  # a step may work in place

    def check_growth(self, A: Operator) -> None:
        """Refuse whatever the base refuses."""
        self.base.check_growth(A)

    def grown(self, A: Any, X: Any) -> tuple[Rule, Any]:
        """Return the step taken from the grown graph."""
        base, E = self.base.grown(self.step.before(A), X)
        step, A = self.step.grown(A, E)
        return Stepped(step, base), A

    def network(self, A: Any) -> Any:
        """Return the graph before the step; behind a normalised cut it comes back to the last digits."""
        return self.step.before(A)

    graph = network

    def settled(self, A: Operator) -> float:
        """Return the share that the rule of the base allows."""
        return self.base.settled(A)

    def refined(
        self, A: Operator, labels: Array, n_clusters: int, rng: np.random.RandomState
    ) -> Array | None:
        """Return labels improved by the rule of the base, if it is one for what comes behind a step."""
        if self.base.moves_once_settled:
            return None
        before = as_operator(self.step.before(A.matrix)) if self.is_network else A
        return self.base.refined(before, labels, n_clusters, rng)


@dataclass(frozen=True, eq=False)
class Attributed(Rule):
    """Edges and features of nodes, in `samples` side by side."""

    rule: AttributedSimilarity
    samples: sparse.csr_array = field()  # without the default of the base class
    feature_names: list[Any] | None
    origin = "graph"
    obstacle = (
        "partial_fit does not take nodes into an AttributedGraph, whose features are smoothed over all its "
        "edges. Fit a graph of all nodes."
    )

    def extend(self, X: Any) -> sparse.csr_array:
        """Return the similarities of new nodes, rows like those of `samples`."""
        n = self.samples.shape[0]
        return self.rule.extend(X[:, :n], X[:, n:])

    def read_nodes(self, X: Any) -> sparse.csr_array:
        """Return new nodes as rows like those of `samples`."""
        n, width = self.samples.shape
        if not isinstance(X, AttributedNodes):
            raise InputTypeError(
                f"The model was fitted on an AttributedGraph: new nodes are given as AttributedNodes(edges, "
                f"features), with edges to its {n} nodes; got {type(X).__name__}."
            )
        edges = sparse.csr_array((X.features.shape[0], n)) if X.edges is None else X.edges
        for what, found, expected, things in (
            ("edges", edges, n, "nodes"),
            ("features", X.features, width - n, "features"),
        ):
            if found.shape[1] != expected:
                raise InputError(
                    f"{what} of the new nodes has {found.shape[1]} columns, but the graph of the fit has "
                    f"{expected} {things}."
                )
        if None not in (self.feature_names, X.feature_names) and self.feature_names != X.feature_names:
            raise InputError(
                f"The columns of the new nodes' features, {X.feature_names!r:.80}, are not those of the fit, "
                f"{self.feature_names!r:.80}. Give the same ones in the same order."
            )
        return edges_and_features(edges, X.features).astype(self.samples.dtype)

    def network(self, A: Any) -> sparse.csr_array:
        """Return the edges of the graph."""
        return self.samples[:, : self.samples.shape[0]]


def edges_and_features(edges: Any, features: Any) -> sparse.csr_array:
    """Return edges and features of nodes as rows of one array."""
    return sparse.csr_array(sparse.hstack([edges, sparse.csr_array(features)]))


@dataclass(frozen=True, eq=False)
class Called(Rule):
    """Samples compared by a function of the user, which compares no others."""

    samples: Any = field()
    origin = "samples"
    obstacle = (
        "affinity is a function, which cannot compare samples that join with those that are there. Fit with "
        "affinity='precomputed', and give partial_fit the similarities (m × (n + m))."
    )

    def extend(self, X: Any) -> Any:
        """Refuse new samples."""
        raise CombinationError(
            "affinity is a function, which cannot compare unseen samples with the training samples. "
            "Fit with affinity='precomputed' and give predict the similarities (n_new × n_train)."
        )


def _moved_by_likelihood(W: Operator, labels: Array, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Labels after moves by likelihood; a node in no cluster goes where most of its edges go."""
    graph, n = LeafGraph.whole(W), W.n
    alone = np.diff(graph.indptr) == 0
    nowhere = np.flatnonzero((labels < 0) & ~alone)
    placed = np.where(labels < 0, 0, labels).astype(np.int32)
    if nowhere.size:
        known = np.flatnonzero(labels >= 0)
        Z = sparse.csr_array((np.ones(len(known)), (known, labels[known])), shape=(n, n_clusters))
        placed[nowhere] = (sparse.csr_array(W.matrix)[nowhere] @ Z).argmax(axis=1)
    least, seed = max(1, n // (10 * n_clusters)), int(rng.randint(2**31))
    moved = raise_likelihood(graph, placed, n_clusters, least, seed)
    return np.where(alone & (labels < 0), NOWHERE, moved).astype(labels.dtype)


@dataclass(frozen=True)
class Similarity:
    """A, the names of its nodes, and the rule for further samples.

    `words` say how A was made. `source` holds the samples × features or the network that it was made of, None
    if A was given; `again` makes similarities of other data of that kind. `preparation` is the plan of the
    table before.
    """

    operator: Operator
    rule: Rule
    names: list[Any] | None = None
    words: str = ""
    source: Any = None
    again: Callable[[Any], Any] | None = None
    preparation: TablePlan | None = None

    @property
    def network(self) -> Any:
        """The network that A was made of, as a csr_array; None if there was none."""
        return self.rule.network(self.operator.matrix) if self.rule.is_network else None

    def graph(self) -> Operator:
        """Return the graph that A was made of, before degrees were divided out of its weights."""
        return as_operator(self.rule.graph(self.operator.matrix))

    def for_clusters(self, n_clusters: int) -> Similarity:
        """Return the similarity with bridges if it is a graph of samples in more pieces than clusters."""
        if not isinstance(self.rule, OfSamples):
            return self
        affinity, A = self.rule.affinity.joined(self.operator.matrix, n_clusters)
        if affinity is self.rule.affinity:
            return self
        return replace(self, operator=as_operator(A), rule=OfSamples(affinity))

    def kept(self) -> Similarity:
        """Return what a fitted model keeps: all but the source, which the rule holds or need not hold."""
        return replace(self, source=None, again=None, preparation=None)

    def joined(self, X: Any, names: list[Any] | None) -> Similarity:
        """Return the similarity once samples have joined: rows of features, or of similarities to all."""
        rule, A = self.rule.grown(self.operator.matrix, X)
        operator = as_operator(A)
        operator.names = names
        return replace(self.kept(), operator=operator, rule=rule, names=names)

    @cached_property
    def copies(self) -> Array | None:
        """The number of the first sample equal to each; None if all differ or have no features."""
        if self.rule.features is None:
            return None
        first = first_of_equal(self.rule.features)
        return None if (first == np.arange(first.size)).all() else first

    @property
    def n_distinct(self) -> int:
        """The number of samples that differ from all before them."""
        return self.operator.n if self.copies is None else np.unique(self.copies).size

    def share(self, labels: Array) -> Array:
        """Return the labels with one for samples that are equal: the one that most of them have."""
        if self.copies is None:
            return labels
        width = labels.max() + 2  # −1 is a label as well
        votes, counts = np.unique(self.copies * width + labels + 1, return_counts=True)
        votes = votes[np.lexsort((-counts, votes // width))]  # the most frequent of each first sample leads
        _, leaders = np.unique(votes // width, return_index=True)
        chosen = np.empty_like(labels)
        chosen[votes[leaders] // width] = votes[leaders] % width - 1
        return chosen[self.copies]
