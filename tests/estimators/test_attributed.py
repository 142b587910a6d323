"""Estimators on graphs with attributes: fitting, naming, placing new nodes, refusals."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from symclust import (
    NMF,
    AttributedGraph,
    AttributedNodes,
    GraphNMF,
    HierarchicalLeftStochastic,
    HierarchicalSymNMF,
    KernelKMeans,
    LeftStochastic,
    OffDiagonalSymNMF,
    SpectralNJW,
    SymmetricFactorization,
    SymNMF,
)
from symclust.datasets import planted_partition
from symclust.exceptions import CombinationError, InputError, InputTypeError, OptionError
from symclust.metrics import clustering_accuracy

N = 150  # nodes of the fit; the others join


@pytest.fixture(scope="module")
def planted():
    """Return edges and words of 180 nodes in three clusters, neither of which tells them apart alone."""
    W, y = planted_partition(180, 3, degree=8, mixing=0.3, random_state=0)
    order = np.random.default_rng(0).permutation(180)
    rng = np.random.default_rng(1)
    X = rng.poisson(0.15 + 0.35 * np.kron(np.eye(3), np.ones(10))[y])
    return W[order][:, order], sp.csr_array(X[order]).astype(float), y[order]


@pytest.fixture(scope="module")
def parts(planted):
    W, X, y = planted
    graph = AttributedGraph(W[:N][:, :N], X[:N])
    return graph, AttributedNodes(W[N:][:, :N], X[N:]), y[:N], y[N:]


def test_edges_and_features_together_are_better_than_either(planted):
    W, X, y = planted
    both = SymNMF(3, random_state=0).fit(AttributedGraph(W, X))
    edges = SymNMF(3, affinity="network", random_state=0).fit(W)
    features = SymNMF(3, random_state=0).fit(X)
    accuracy = clustering_accuracy(y, both.labels_)
    assert accuracy > 0.9
    assert accuracy > clustering_accuracy(y, edges.labels_)
    assert accuracy > clustering_accuracy(y, features.labels_)
    assert "share of 0.5" in both.affinity_


@pytest.mark.parametrize(
    "model",
    [
        HierarchicalLeftStochastic(3),
        HierarchicalSymNMF(3),
        KernelKMeans(3, random_state=0),
        LeftStochastic(3),
        OffDiagonalSymNMF(3, random_state=0),
        SpectralNJW(3, random_state=0),
        SymmetricFactorization(3, random_state=0),
        SymNMF(3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_estimators_fit_it_and_place_new_nodes(parts, model):
    graph, new, y, y_new = parts
    model.fit(graph)
    assert clustering_accuracy(y, model.labels_) > 0.8
    known = AttributedNodes(graph.adjacency, graph.features)
    assert (model.predict(known) == model.labels_).all()
    together = np.r_[model.labels_, model.predict(new)]
    assert clustering_accuracy(np.r_[y, y_new], together) > 0.8
    assert model.transform(new).shape == (30, 3)
    assert model.score(new) > 0.2


def test_new_nodes_by_features_or_edges_alone(parts):
    graph, new, y, y_new = parts
    model = SymNMF(3, random_state=0).fit(graph)
    for nodes in (AttributedNodes(None, new.features), AttributedNodes(new.edges, 0 * new.features)):
        placed = model.predict(nodes)
        assert clustering_accuracy(np.r_[y, y_new], np.r_[model.labels_, placed]) > 0.8
    nothing = AttributedNodes(None, 0 * new.features)
    assert (model.predict(nothing) == -1).all()


def test_a_new_node_may_be_joined_to_one_without_edges(parts):
    graph, new, *_ = parts
    W = graph.adjacency.tolil()
    W[0], W[:, 0] = 0, 0
    model = SymNMF(3, random_state=0).fit(AttributedGraph(W, graph.features))
    edges = sp.lil_array((1, N))
    edges[0, 0] = 1
    assert np.isfinite(model.transform(AttributedNodes(edges, new.features[:1]))).all()


def test_communities_have_the_names_of_the_nodes(planted):
    W, X, _ = planted
    graph = nx.relabel_nodes(nx.from_scipy_sparse_array(W), lambda node: f"n{node}")
    table = pd.DataFrame(X.toarray(), index=[f"n{node}" for node in range(180)])
    shuffled = table.sample(frac=1, random_state=0)
    model = SymNMF(3, random_state=0).fit(AttributedGraph(graph, shuffled))
    plain = SymNMF(3, random_state=0).fit(AttributedGraph(W, X))
    assert (model.labels_ == plain.labels_).all()
    assert {node for members in model.communities() for node in members} == set(graph.nodes)


def test_what_the_user_changes_later_changes_nothing_and_models_are_pickled(planted):
    W, X, _ = planted
    graph = AttributedGraph(W, X)
    model = SymNMF(3, random_state=0).fit(graph)
    nodes = AttributedNodes(W[:5] * 2, X[:5])
    before = model.transform(nodes)
    graph.adjacency.data[:] = 7
    graph.features.data[:] = 7
    assert (pickle.loads(pickle.dumps(model)).transform(nodes) == before).all()


def test_parameters_reach_the_similarity(parts):
    graph = parts[0]
    options = {"smoothing": 3, "feature_share": 0.25, "n_neighbors": 10, "window": 2, "n_kept": 20}
    model = SymNMF(3, affinity_params=options, random_state=0).fit(graph)
    assert "3 steps, with a share of 0.25" in model.affinity_
    assert model.affinity_matrix_.nnz < SymNMF(3).fit(graph).affinity_matrix_.nnz


def test_what_does_not_go_together_is_refused_by_name(parts):
    graph = parts[0]
    for affinity in ("precomputed", "cosine", "nearest_neighbors", "network", np.dot):
        with pytest.raises(CombinationError, match="does not combine edges and features"):
            SymNMF(3, affinity=affinity).fit(graph)
    with pytest.raises(OptionError, match=r"'sigma'.*'smoothing', 'feature_share'"):
        SymNMF(3, affinity_params={"sigma": 1}).fit(graph)
    with pytest.raises(CombinationError, match="adjacency"):
        GraphNMF(3, graph=graph).fit(graph.features)
    with pytest.raises(InputTypeError, match="features alone"):
        NMF(3).fit(graph)


def test_new_nodes_of_another_kind_are_refused_by_name(parts):
    graph, new, *_ = parts
    model = SymNMF(3, random_state=0).fit(graph)
    for given in (new.features, graph):
        with pytest.raises(InputTypeError, match="AttributedNodes\\(edges, features\\)"):
            model.predict(given)
    with pytest.raises(InputError, match=r"edges of the new nodes has 7 columns.*150 nodes"):
        model.predict(AttributedNodes(np.ones((30, 7)), new.features))
    with pytest.raises(InputError, match=r"features of the new nodes has 2 columns.*30 features"):
        model.predict(AttributedNodes(new.edges, np.ones((30, 2))))
    with pytest.raises(InputTypeError, match="AttributedNodes"):
        SymNMF(3, random_state=0).fit(graph.features).predict(new)


def test_other_columns_are_refused(parts):
    graph, new, *_ = parts
    named = AttributedGraph(graph.adjacency, pd.DataFrame(graph.features.toarray()).add_prefix("w"))
    model = SymNMF(3, random_state=0).fit(named)
    table = pd.DataFrame(new.features.toarray()).add_prefix("w")
    assert (model.predict(AttributedNodes(new.edges, table)) == model.predict(new)).all()
    with pytest.raises(InputError, match="not those of the fit"):
        model.predict(AttributedNodes(new.edges, table[table.columns[::-1]]))
