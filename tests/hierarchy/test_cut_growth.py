"""Trees of communities: which leaf is next, what is remembered, where it stops."""

import sys

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust.exceptions import CombinationError
from symclust.hierarchy import CutGrowth
from symclust.metrics import average_normalized_cut
from symclust.operators import Gram, as_operator

graphs = st.tuples(st.integers(1, 25), st.floats(0, 0.5), st.integers(0, 1000)).map(
    lambda drawn: nx.gnp_random_graph(drawn[0], drawn[1], seed=drawn[2])
)


def growth(graph, balance=0.25, smallest=1, while_modular=False, seed=0):
    return CutGrowth(as_operator(graph), balance, smallest, while_modular, 1, seed)


@settings(max_examples=40)
@given(graphs, st.integers(1, 4), st.booleans())
def test_children_share_their_parents_members(graph, smallest, while_modular):
    tree = growth(graph, smallest=smallest, while_modular=while_modular).grow(len(graph))
    for node in tree.nodes:
        if node.children:
            parts = [tree.nodes[child].members for child in node.children]
            assert sorted(np.concatenate(parts)) == sorted(node.members)
            assert min(map(len, parts)) >= smallest
        elif not while_modular and len(node.members) >= 2 * smallest and smallest == 1:
            pytest.fail("a leaf of two nodes can be split")
    for k in range(2, tree.n_splits + 2):  # nested: a cluster lies within one of the coarser cut
        fine, coarse = tree.cut(k), tree.cut(k - 1)
        assert len(set(zip(fine, coarse, strict=True))) == k


@settings(max_examples=30)
@given(graphs)
def test_history_and_data_are_normalised_cuts(graph):
    grown = growth(graph)
    tree = grown.grow(6)
    A = nx.to_scipy_sparse_array(graph, dtype=float)
    for k, (_, objective) in enumerate(grown.history, start=1):
        assert objective == pytest.approx(average_normalized_cut(A, tree.cut(k)), abs=1e-9)
    for node in tree.nodes:
        inside = A[node.members][:, node.members].sum()
        volume = A[node.members].sum()
        assert node.data["normalized_cut"] == pytest.approx(1 - (inside / volume if volume else 0))


@settings(max_examples=30)
@given(graphs.filter(lambda graph: graph.number_of_edges() > 0))
def test_gains_in_modularity_are_those_of_networkx(graph):
    tree = growth(graph).grow(5)
    inner = sorted((node for node in tree.nodes if node.children), key=lambda node: node.split)
    for k, node in enumerate(inner, start=1):
        before, after = (
            nx.community.modularity(graph, [set(leaf.members) for leaf in tree.leaves(n)]) for n in (k, k + 1)
        )
        assert node.data["modularity_gain"] == pytest.approx(after - before, abs=1e-9)


@pytest.mark.parametrize("balance", [0.0, 0.25, 1.0])
def test_the_next_leaf_has_the_largest_weighted_gain(balance):
    graph = nx.connected_caveman_graph(12, 6)
    tree = growth(graph, balance=balance).grow(10)
    volumes = dict(graph.degree)
    total = sum(volumes.values())
    inner = sorted((node for node in tree.nodes if node.children), key=lambda node: node.split)
    for k, node in enumerate(inner, start=1):
        share = sum(volumes[i] for i in node.members) / total
        gain = node.data["gain"]
        assert node.score == pytest.approx(gain * share**balance if gain > 0 else gain)  # it is connected
        assert node.score >= max(leaf.score for leaf in tree.leaves(k) if not leaf.is_final) - 1e-12


def test_stops_where_the_modularity_is_largest_on_cliques():
    tree = growth(nx.ring_of_cliques(8, 6), while_modular=True).grow(48)
    assert sorted(leaf.members.tolist() for leaf in tree.leaves()) == np.arange(48).reshape(8, 6).tolist()
    assert all(leaf.is_final for leaf in tree.leaves())


def test_does_not_depend_on_how_many_leaves_are_prepared_at_once(monkeypatch):
    graph = nx.connected_caveman_graph(20, 7)
    cuts = []
    for threads in (1, 3):
        monkeypatch.setattr(sys.modules[CutGrowth.__module__], "available_threads", lambda n=threads: n)
        cuts.append(growth(graph).grow(17).cut(17))
    np.testing.assert_array_equal(*cuts)


def test_operators_without_edges_are_refused():
    with pytest.raises(CombinationError, match="has none at hand"):
        CutGrowth(Gram(np.eye(3)), 0.25, 1, False, 1, 0)


def test_dense_and_sparse_are_the_same():
    A = nx.to_numpy_array(nx.karate_club_graph())
    dense, sparse = (CutGrowth(as_operator(form), 0.25, 1, False, 2, 3) for form in (A, sp.csr_array(A)))
    np.testing.assert_array_equal(dense.grow(5).cut(5), sparse.grow(5).cut(5))
