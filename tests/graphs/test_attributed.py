"""Graphs with attributes: what is read, the formula, what is chosen, nodes that join later."""

import tracemalloc

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from symclust import AttributedGraph, AttributedNodes
from symclust.datasets import planted_partition
from symclust.exceptions import InputError, InputTypeError, OptionError
from symclust.graphs import AttributedSimilarity, attributed_similarity, cosine
from symclust.graphs._smoothing import Smoother


@pytest.fixture
def friends():
    graph = nx.Graph()
    graph.add_edge("ann", "bob", weight=2.0, years=7)
    graph.add_edge("bob", "cem", weight=3.0, years=1)
    return graph


def planted(mixing, noise, seed=0, words=False):
    """Return a graph of three clusters, features with noise, and the clusters."""
    W, y = planted_partition(180, 3, degree=10, mixing=mixing, random_state=seed)
    rng = np.random.default_rng(seed)
    X = np.eye(3)[y] @ rng.random((3, 12)) + noise * rng.standard_normal((180, 12))
    return W, rng.poisson(np.exp(X - 2)) if words else X, y


# Reading ----------------------------------------------------------------------------------------------------


def test_all_forms_of_a_graph_are_the_same(friends):
    X = np.arange(6.0).reshape(3, 2)
    dense = nx.to_numpy_array(friends)
    by_igraph = igraph.Graph(edges=[(0, 1), (1, 2)], edge_attrs={"weight": [2.0, 3.0]})
    frame = pd.DataFrame(dense, index=list("abc"), columns=list("abc"))
    for form in (friends, dense, sp.coo_array(dense), by_igraph, frame):
        graph = AttributedGraph(form, X)
        assert graph.adjacency.toarray().tolist() == dense.tolist()
        assert graph.n_nodes == 3
    assert AttributedGraph(frame, X).names == list("abc")
    assert AttributedGraph(dense, X).names is None


def test_weights_by_name_and_none_at_all(friends):
    X = np.ones((3, 1))
    assert AttributedGraph(friends, X, weight="years").adjacency[0, 1] == 7
    assert AttributedGraph(friends, X, weight=None).adjacency[1, 2] == 1


SPARSE = pd.SparseDtype(float, 0)


@pytest.mark.parametrize("dtype", [float, SPARSE])
def test_a_table_is_put_in_order_by_the_names_of_the_nodes(friends, dtype):
    table = pd.DataFrame({"age": [51.0, 29.0, 27.0]}, index=["cem", "ann", "bob"]).astype(dtype)
    graph = AttributedGraph(friends, table)
    values = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    assert values.ravel().tolist() == [29, 27, 51]
    assert graph.feature_names == ["age"]


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (["ann", "bob", "cam"], "no row for these nodes.*'cem'"),
        (["ann", "bob", "cem", "dan"], "name no node.*'dan'"),
        (["ann", "bob", "cem", "bob"], "more than once.*'bob'"),
        (range(3), "no row for these nodes.*3 in all"),
    ],
)
def test_names_that_do_not_match_are_told(friends, index, words):
    with pytest.raises(InputError, match=words):
        AttributedGraph(friends, pd.DataFrame({"age": range(len(index))}, index=index))


def test_what_is_no_attributed_graph_is_refused(friends):
    X = np.ones((3, 1))
    for graph, words in [
        (np.triu(np.ones((3, 3))), "not symmetric"),
        (np.eye(3) - 1, "negative"),
        (nx.DiGraph(friends), "directed"),
        (np.full((3, 3), np.nan), "NaN"),
        (nx.Graph(), "no nodes"),
    ]:
        with pytest.raises(InputError, match=words):
            AttributedGraph(graph, X)
    with pytest.raises(InputError, match="3 nodes, but features has 4 rows"):
        AttributedGraph(friends, np.ones((4, 1)))
    with pytest.raises(InputError, match="features contains NaN"):
        AttributedGraph(friends, [[1.0], [np.nan], [2.0]])
    with pytest.raises(InputTypeError, match="already"):
        AttributedGraph(AttributedGraph(friends, X), X)
    with pytest.raises(InputTypeError, match="no edges one by one"):
        AttributedGraph(cosine(np.ones((3, 2))), X)


def test_new_nodes_are_checked():
    with pytest.raises(InputError, match="edges has 2 rows, but features has 3"):
        AttributedNodes(np.ones((2, 5)), np.ones((3, 4)))
    with pytest.raises(InputError, match="at least 0"):
        AttributedNodes([[-1.0, 0.0]], [[1.0]])


def test_loops_are_left_out_and_what_is_given_stays_as_it_is():
    W, X = sp.csr_array(np.ones((3, 3))), np.ones((3, 2), dtype=np.float32)
    graph = AttributedGraph(W, X)
    assert graph.adjacency.toarray().tolist() == (1 - np.eye(3)).tolist()
    assert graph.adjacency.dtype == np.float32
    graph.features[:] = 0
    assert W.nnz == 9
    assert X.all()


# The formula ------------------------------------------------------------------------------------------------


def smoothed(W, Z, t):
    d = W.sum(axis=1) + 1
    S = (np.eye(len(W)) + (W + np.eye(len(W))) / np.sqrt(np.outer(d, d))) / 2
    return np.linalg.matrix_power(S, t) @ Z


def walked(W, T):
    d = W.sum(axis=1)
    P = W / d[:, None]
    total = sum(np.linalg.matrix_power(P, r) for r in range(1, T + 1))
    M = np.log(np.maximum(1, d.sum() / T * total / d))
    np.fill_diagonal(M, 0)
    d = M.sum(axis=1)
    M = M * np.outer(d, d) ** -0.4
    return M / np.linalg.norm(M)


def by_the_formula(W, X, t, share, T):
    Z = smoothed(W, X - X.mean(axis=0), t)
    Z = Z - Z.mean(axis=0)
    C = Z @ Z.T / np.outer(*2 * [np.linalg.norm(Z, axis=1)])
    np.fill_diagonal(C, 0)
    return (1 - share) * walked(W, T) + share * walked(C.clip(min=0), T)


@settings(max_examples=20)
@given(st.integers(8, 20), st.integers(0, 4), st.floats(0, 1), st.integers(1, 4), st.integers(0, 99))
def test_without_pruning_it_is_the_formula(n, t, share, window, seed):
    W = nx.to_numpy_array(nx.gnp_random_graph(n, 0.3, seed)) + nx.to_numpy_array(nx.cycle_graph(n))
    X = np.random.default_rng(seed).standard_normal((n, 3))
    A = attributed_similarity(AttributedGraph(W, X), t, share, n_neighbors=n, window=window, n_kept=n)
    assert A.toarray() == pytest.approx(by_the_formula(W, X, t, share, window), abs=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 5), st.integers(0, 99))
def test_new_nodes_are_smoothed_like_old_ones(t, seed):
    W = nx.to_scipy_sparse_array(nx.gnp_random_graph(15, 0.3, seed), dtype=np.float64)
    Z = np.random.default_rng(seed).standard_normal((15, 3))
    smoother = Smoother(sp.csr_array(W))
    *_, old = smoother.path(Z, t)
    assert old == pytest.approx(smoothed(W.toarray(), Z, t))
    assert smoother.extend(Z, sp.csr_array(W), Z, t) == pytest.approx(old)


def test_the_result_is_a_sparse_graph_in_the_precision_given():
    W, X, _ = planted(0.2, 0.5)
    for dtype in (np.float32, np.float64):
        A = attributed_similarity(AttributedGraph(W, X.astype(dtype)), n_kept=20)
        assert A.dtype == dtype
        assert (A != A.T).nnz == 0
        assert A.data.min() > 0
        assert A.diagonal().max() == 0
        assert A.nnz < 0.7 * 180**2


def test_words_mean_the_same_dense_and_sparse_and_are_weighted():
    W, X, _ = planted(0.2, 0.3, words=True)
    A = attributed_similarity(AttributedGraph(W, sp.csr_array(X, dtype=np.float64)))
    B = attributed_similarity(AttributedGraph(W, X.astype(np.float64)))
    assert abs(A - B).max() < 1e-12
    # A document twice as long is the same document.
    twice = X * np.where(np.arange(180) % 2, 2, 1)[:, None]
    assert abs(A - attributed_similarity(AttributedGraph(W, twice))).max() < 1e-12


def test_many_features_are_reduced_to_their_singular_vectors():
    W, X, _ = planted(0.2, 0.5)
    spread = np.linalg.qr(np.random.default_rng(0).standard_normal((300, 12)))[0].T
    options = {"smoothing": 1, "feature_share": 0.5}
    narrow = attributed_similarity(AttributedGraph(W, X), **options)
    wide = attributed_similarity(AttributedGraph(W, X @ spread), **options)
    assert abs(narrow - wide).max() < 1e-10


def test_isolated_nodes_and_empty_features_are_similar_by_what_they_have():
    W, X, _ = planted(0.1, 0.1, words=True)
    W, X = W.toarray(), X.astype(float)
    W[0], W[:, 0] = 0, 0  # no edges
    X[1] = 0  # no words
    W[2], W[:, 2], X[2] = 0, 0, 0  # nothing at all
    A = attributed_similarity(AttributedGraph(W, X), smoothing=0, feature_share=0.5).toarray()
    assert np.isfinite(A).all()
    assert A[0].any()
    assert A[1].any()
    assert not A[2].any()


def test_a_graph_without_edges_leaves_the_features():
    X = planted(0.1, 0.1)[1]
    rule = AttributedSimilarity()
    A = rule.fit(AttributedGraph(sp.csr_array((180, 180)), X))
    assert rule.feature_share_ == 1
    assert A.nnz > 0


# What is chosen ---------------------------------------------------------------------------------------------


def chosen(W, X):
    rule = AttributedSimilarity()
    rule.fit(AttributedGraph(W, X))
    return rule


def test_features_that_go_with_the_edges_get_half():
    W, X, _ = planted(0.2, 1.0)
    rule = chosen(W, X)
    assert rule.feature_share_ == 0.5
    assert rule.smoothing_ >= 1  # noise is averaged out
    assert rule.evidence_.foretold[rule.smoothing_] > rule.evidence_.foretold[0] + 0.01
    assert rule.evidence_.foretold[rule.smoothing_] > rule.evidence_.by_chance + 0.05


def test_features_that_say_nothing_are_left_out():
    W, _ = planted_partition(300, 6, degree=25, mixing=0.2, random_state=0)
    X = np.random.default_rng(0).standard_normal((300, 8))
    rule = chosen(W, X)
    assert rule.feature_share_ == 0
    assert rule.evidence_.by_walks > 0.6
    A = rule.fit(AttributedGraph(W, X))
    alone = attributed_similarity(AttributedGraph(W, -X), smoothing=0, feature_share=0)
    assert abs(A - alone).max() == 0


def test_edges_that_say_nothing_are_left_out():
    _, X, _ = planted(0.2, 0.1)
    W = nx.to_scipy_sparse_array(nx.gnp_random_graph(180, 0.05, seed=1), dtype=np.float64)
    rule = chosen(W, X)
    assert (rule.feature_share_, rule.smoothing_) == (1, 0)


def test_what_is_told_is_done():
    W, X, _ = planted(0.2, 1.0)
    rule = AttributedSimilarity(smoothing=3, feature_share=0.25)
    rule.fit(AttributedGraph(W, X))
    assert (rule.smoothing_, rule.feature_share_, rule.evidence_) == (3, 0.25, None)
    for option in ({"smoothing": -1}, {"smoothing": "none"}, {"feature_share": 2}, {"n_neighbors": 0}):
        with pytest.raises(OptionError, match=next(iter(option))):
            AttributedSimilarity(**option).fit(AttributedGraph(W, X))
    with pytest.raises(InputTypeError, match="AttributedGraph"):
        attributed_similarity(W)


def test_same_bits_on_any_number_of_threads():
    W, X, _ = planted(0.2, 1.0, words=True)
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            results.append(attributed_similarity(AttributedGraph(W, np.tile(X, (1, 30)))))
    assert (results[0] != results[1]).nnz == 0


# Nodes that join later --------------------------------------------------------------------------------------


def test_a_node_that_joins_with_what_another_has_becomes_similar_to_the_same():
    W, X, _ = planted(0.1, 0.3)
    rule = AttributedSimilarity(n_kept=180, n_neighbors=60)
    A = rule.fit(AttributedGraph(W, X)).toarray()
    joined = rule.extend(W[:9], X[:9]).toarray()
    assert joined.shape == (9, 180)
    for old, new in zip(A[:9], joined, strict=True):
        assert np.corrcoef(old, new)[0, 1] > 0.9


def test_no_array_of_all_pairs_is_made():
    n = 8000
    W = nx.to_scipy_sparse_array(nx.random_regular_graph(4, n, seed=0), dtype=np.float32)
    X = np.random.default_rng(0).standard_normal((n, 3)).astype(np.float32)
    graph = AttributedGraph(W, X)
    tracemalloc.start()
    attributed_similarity(graph, smoothing=1, feature_share=0.5, n_neighbors=10, n_kept=20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n * 4 / 2


def test_a_graph_too_small_to_tell_is_not_left_out():
    club = nx.karate_club_graph()
    rule = AttributedSimilarity()
    rule.fit(AttributedGraph(club, np.random.default_rng(0).random((34, 5))))
    assert not rule.evidence_.is_telling
    assert rule.feature_share_ < 1
