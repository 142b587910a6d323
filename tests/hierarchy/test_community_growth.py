"""Trees on a graph of joined nodes, with nodes that move between leaves."""

import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust.datasets import lfr, planted_partition
from symclust.hierarchy import CommunityGrowth, CutGrowth, LeafGraph, RaiseBoth, RaiseModularity, Tree
from symclust.hierarchy.communities.levels import by_chance
from symclust.hierarchy.communities.scales import Leaves
from symclust.metrics import average_normalized_cut
from symclust.operators import as_operator

graphs = st.tuples(st.integers(1, 25), st.floats(0, 0.5), st.integers(0, 1000)).map(
    lambda drawn: nx.gnp_random_graph(drawn[0], drawn[1], seed=drawn[2])
)


def growth(graph, smallest=1, both=True, seed=0):
    moves = (RaiseBoth if both else RaiseModularity)(smallest)
    return CommunityGrowth(as_operator(graph), 0.25, 1, seed, moves)


def modularity(graph, tree, k=None):
    return nx.community.modularity(graph, [set(leaf.members.tolist()) for leaf in tree.leaves(k)])


@pytest.fixture
def few_nodes_are_enough(monkeypatch):
    """Join nodes of small graphs too."""
    monkeypatch.setattr(sys.modules[CommunityGrowth.__module__], "ENOUGH", 20)
    monkeypatch.setattr(sys.modules[CommunityGrowth.__module__], "LEAF_NODES", 2)


@settings(max_examples=60)
@given(graphs, st.integers(1, 3), st.booleans(), st.booleans())
def test_children_share_their_parents_members(graph, smallest, while_modular, both):
    tree = growth(graph, smallest, both).grow(None if while_modular else min(6, len(graph)))
    for node in tree.nodes:
        if node.children:
            parts = [tree.nodes[child].members for child in node.children]
            assert sorted(np.concatenate(parts)) == sorted(node.members)
            assert min(map(len, parts)) >= smallest
    assert tree.leaves()[0].members[0] == 0
    for k in range(2, tree.n_splits + 2):
        assert len(set(zip(tree.cut(k), tree.cut(k - 1), strict=True))) == k


@settings(max_examples=60)
@given(graphs, st.booleans())
def test_history_and_data_are_those_of_the_moved_leaves(graph, both):
    grown = growth(graph, both=both)
    tree = grown.grow(min(6, len(graph)))
    A = nx.to_scipy_sparse_array(graph, dtype=float)
    assert len(grown.history) == tree.n_splits + 1
    for k, (_, objective) in enumerate(grown.history, start=1):
        assert objective == pytest.approx(average_normalized_cut(A, tree.cut(k)), abs=1e-9)
    for node in tree.nodes:
        inside, volume = A[node.members][:, node.members].sum(), A[node.members].sum()
        assert node.data["normalized_cut"] == pytest.approx(1 - (inside / volume if volume else 0))
        if node.children and graph.number_of_edges():
            before, after = (modularity(graph, tree, k) for k in (node.split + 1, node.split + 2))
            assert node.data["modularity_gain"] == pytest.approx(after - before, abs=1e-9)


@settings(max_examples=40)
@given(graphs.filter(lambda graph: len(graph) > 5), st.integers(1, 2))
def test_moves_make_neither_measure_worse(graph, smallest):
    A = nx.to_scipy_sparse_array(graph, dtype=float)
    plain = CutGrowth(as_operator(graph), 0.25, smallest, False, 1, 0).grow(4)
    moved = growth(graph, smallest).grow(4)
    assert moved.n_splits == plain.n_splits
    k = plain.n_splits + 1
    assert average_normalized_cut(A, moved.cut(k)) <= average_normalized_cut(A, plain.cut(k)) + 1e-9
    if graph.number_of_edges():
        assert modularity(graph, moved) >= modularity(graph, plain) - 1e-9


@pytest.mark.usefixtures("few_nodes_are_enough")
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("smallest", [1, 4])
def test_joined_nodes_give_as_many_leaves_as_wanted(both, smallest):
    A, _ = lfr(400, mixing=0.1, average_degree=8, max_degree=20, random_state=0)
    for k in (2, 9, 40, 60):
        tree = growth(A, smallest, both=both).grow(k)
        assert tree.n_splits + 1 == k
        assert min(len(leaf.members) for leaf in tree.leaves()) >= smallest


@pytest.mark.usefixtures("few_nodes_are_enough")
def test_leaves_smaller_than_joined_nodes_are_cut_on_the_graph_itself():
    tree = growth(nx.ring_of_cliques(30, 8)).grow(35)  # cliques are joined, and five have to be cut
    assert tree.n_splits + 1 == 35


def test_large_graphs_are_cut_with_joined_nodes(monkeypatch):
    seen = []
    bisect = LeafGraph.bisect
    monkeypatch.setattr(LeafGraph, "bisect", lambda self, *how: seen.append(self.n) or bisect(self, *how))
    tree = growth(nx.ring_of_cliques(1500, 4)).grow(5)
    assert 1000 <= max(seen) <= 1500
    assert all(len(leaf.members) % 4 == 0 for leaf in tree.leaves())


def test_nodes_that_have_most_edges_elsewhere_are_not_joined(monkeypatch):
    seen = []
    bisect = LeafGraph.bisect
    monkeypatch.setattr(LeafGraph, "bisect", lambda self, *how: seen.append(self.n) or bisect(self, *how))
    A, _ = planted_partition(4000, 8, degree=16, mixing=0.6, random_state=0)
    growth(A).grow(3)
    assert 1000 < LeafGraph.whole(as_operator(A)).joined(0)[0].n < 3000  # so many that it could have been cut
    assert max(seen) == 4000


def sizes_of_cut_graphs(monkeypatch):
    seen, bisect = [], LeafGraph.bisect
    monkeypatch.setattr(LeafGraph, "bisect", lambda self, *how: seen.append(self.n) or bisect(self, *how))
    return seen


@pytest.mark.usefixtures("few_nodes_are_enough")
@pytest.mark.parametrize("while_modular", [True, False])
def test_large_graphs_are_joined_to_their_communities(while_modular, monkeypatch):
    A, y = planted_partition(1200, 6, degree=16, mixing=0.2, random_state=0)
    assert LeafGraph.whole(as_operator(A)).joined(0)[0].n < 20  # fewer than what is enough
    seen = sizes_of_cut_graphs(monkeypatch)
    tree = growth(A).grow(None if while_modular else 6)
    assert tree.n_splits + 1 == 6
    assert len(set(zip(y, tree.cut(6), strict=True))) == 6
    assert max(seen) < 600


@pytest.mark.usefixtures("few_nodes_are_enough")
def test_groups_that_are_there_by_chance_are_not_used(monkeypatch):
    A = nx.to_scipy_sparse_array(nx.gnp_random_graph(1200, 0.01, seed=0), dtype=float)
    seen = sizes_of_cut_graphs(monkeypatch)
    growth(A).grow(3)
    assert max(seen) == 1200


def test_the_modularity_of_random_graphs_is_known_whatever_the_weights():
    chance = by_chance
    A = nx.to_scipy_sparse_array(nx.gnp_random_graph(3000, 0.005, seed=0), dtype=float)
    graph = LeafGraph.whole(as_operator(A))
    assert chance(graph) == pytest.approx(0.97 / np.sqrt(15), rel=0.02)
    assert chance(LeafGraph.whole(as_operator(7 * A))) == pytest.approx(chance(graph))
    best = nx.community.louvain_communities(nx.from_scipy_sparse_array(A), seed=0)
    assert nx.community.modularity(nx.from_scipy_sparse_array(A), best) == pytest.approx(
        chance(graph), rel=0.2
    )


@pytest.fixture
def wrong_leaves():
    """Return a growth that has found two communities in one leaf and one in two, and the communities."""
    A, y = planted_partition(600, 3, degree=16, mixing=0.1, random_state=0)
    tree = Tree(3)
    tree.split(0, [[0], [1, 2]])
    tree.split(2, [[1], [2]])
    grown = growth(A)
    grown._clock = 0.0
    grown._found = Leaves(tree, np.where(y == 2, 1 + np.arange(600) % 2, 0).astype(np.int32))
    return grown, y


def test_a_tree_that_grows_anew_parts_and_joins_communities(wrong_leaves):
    grown, y = wrong_leaves
    grown._grow_anew(3)
    assert grown._found.n == 3
    # Moves follow: until then a few nodes may be on the wrong side.
    assert sum(np.bincount(y[grown._found.labels == leaf]).max() for leaf in range(3)) > 590


def test_a_tree_that_grows_anew_is_as_it_was_after_an_interrupt(wrong_leaves, monkeypatch):
    grown, _ = wrong_leaves
    before, seen, bisect = grown._found, [], LeafGraph.bisect

    def interrupting(self, *how):
        seen.append(self.n)
        if len(seen) == at:
            raise KeyboardInterrupt
        return bisect(self, *how)

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(LeafGraph, "bisect", interrupting)
    at, is_interrupted = 0, True
    while is_interrupted:
        at, is_interrupted = at + 1, False
        seen.clear()
        try:
            grown._grow_anew(3)
        except KeyboardInterrupt:
            is_interrupted = True
            assert grown._found is before
    assert at > 5


@pytest.mark.usefixtures("few_nodes_are_enough")
def test_communities_that_fell_together_are_found_on_large_graphs(monkeypatch):
    A, y = planted_partition(3000, 20, degree=20, mixing=0.5, random_state=0)
    pairs = [len(set(zip(y, growth(A).grow(20).cut(20), strict=True)))]
    monkeypatch.setattr(CommunityGrowth, "_grow_anew", lambda self, _: None)
    pairs.append(len(set(zip(y, growth(A).grow(20).cut(20), strict=True))))
    assert pairs[0] < 32 < pairs[1]


@pytest.mark.usefixtures("few_nodes_are_enough")
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("smallest", [1, 30])
def test_large_graphs_give_as_many_leaves_as_wanted(both, smallest):
    A, _ = planted_partition(1200, 6, degree=16, mixing=0.2, random_state=0)
    for k in (1, 2, 6, 9, 14):
        tree = growth(A, smallest, both=both).grow(k)
        assert tree.n_splits + 1 == k
        assert min(len(leaf.members) for leaf in tree.leaves()) >= smallest


def test_moves_find_what_cuts_alone_do_not():
    A, y = lfr(2000, mixing=0.6, random_state=1)
    k = len(np.unique(y))
    pairs = [
        len(set(zip(y, g.grow(k).cut(k), strict=True)))
        for g in (growth(A), CutGrowth(as_operator(A), 0.25, 1, False, 1, 0))
    ]
    assert pairs[0] < 1.2 * k < pairs[1]


@pytest.mark.parametrize("while_modular", [True, False])
def test_modularity_alone_is_at_least_as_high(while_modular):
    graph = nx.convert_node_labels_to_integers(nx.les_miserables_graph())
    either = [growth(graph, both=both).grow(None if while_modular else 6) for both in (True, False)]
    assert modularity(graph, either[1]) >= modularity(graph, either[0]) - 1e-3


def test_leaves_vanish_where_the_modularity_can_do_without_them():
    A, _ = lfr(3000, mixing=0.5, random_state=0)
    graph = nx.from_scipy_sparse_array(A)
    before = CutGrowth(as_operator(A), 0.25, 1, True, 1, 0).grow(3000)
    after = growth(A, both=False).grow()
    assert after.n_splits < before.n_splits
    assert modularity(graph, after) > modularity(graph, before)


def joined_to_many(n):
    return lfr(n, mixing=0.1, average_degree=8, max_degree=20, random_state=0)[0]


def joined_to_few(n):
    return planted_partition(n, 12, degree=12, mixing=0.2, random_state=0)[0]


@pytest.mark.usefixtures("few_nodes_are_enough")
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("made", [joined_to_many, joined_to_few])
def test_does_not_depend_on_the_number_of_threads(made, both, monkeypatch):
    A = made(600)
    trees = []
    for threads in (1, 3):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        trees.append(growth(A, both=both).grow(17))
    assert trees[0].to_json() == trees[1].to_json()


@pytest.mark.usefixtures("few_nodes_are_enough")
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("name", ["moved", "joined", "contracted", "bisect"])
@pytest.mark.parametrize("made", [joined_to_many, joined_to_few])
def test_an_interrupt_keeps_the_tree(made, name, both, monkeypatch):
    A = made(400)
    original, calls = getattr(LeafGraph, name), []

    def interrupting(self, *args):
        calls.append(name)
        if len(calls) == at:
            raise KeyboardInterrupt
        return original(self, *args)

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(LeafGraph, name, interrupting)
    outcomes = set()
    for at in range(1, 200, 1 if name != "bisect" else 9):
        calls.clear()
        grown = growth(A, both=both)
        try:
            tree = grown.grow(9)
        except KeyboardInterrupt:
            outcomes.add("passed on")
            continue
        if len(calls) < at:
            break
        outcomes.add("kept")
        assert tree.interrupted
        assert tree.n_samples == 400
        assert tree.n_splits + 1 <= 9
        labels = tree.cut(tree.n_splits + 1)
        assert set(labels) == set(range(tree.n_splits + 1))
        assert grown.history[-1][1] == pytest.approx(average_normalized_cut(A, labels), abs=1e-9)
    assert "kept" in outcomes
    assert ("passed on" in outcomes) == (name in ("joined", "bisect"))  # before the first split


def test_other_samples_in_the_same_tree():
    tree = Tree(4)
    tree.split(0, [[0, 1], [2, 3]])
    tree.split(1, [[0], [1]])
    tree.split(2, [[2], [3]])
    tree.nodes[1].score = 7.0
    new = tree.with_leaves(np.array([3, 1, 1, 3, 0]))  # leaf 2 is empty, and the first sample is in the last
    assert new.cut(3).tolist() == [0, 1, 1, 0, 2]
    assert new.cut(2).tolist() == [0, 1, 1, 0, 1]
    assert [node.score for node in new.nodes if node.split == 1] == [7.0]
    assert new.n_splits == 2
