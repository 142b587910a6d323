"""Trees of communities as an estimator."""

import pickle
import tracemalloc

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from symclust import HierarchicalSymNMF, SymNMF
from symclust.datasets import lfr, planted_partition
from symclust.exceptions import (
    CombinationError,
    InputError,
    InterruptedWarning,
    NotConvergedWarning,
    OptionError,
)
from symclust.hierarchy import CutGrowth
from symclust.metrics import average_normalized_cut
from symclust.operators import Gram


def tree_of(graph, k=4, **options):
    return HierarchicalSymNMF(k, random_state=0, **options).fit(graph)


UNSUITED = {"check_clustering": "gives samples × features where a square similarity is due"}


@parametrize_with_checks(
    [
        HierarchicalSymNMF(),
        HierarchicalSymNMF(None, affinity="gaussian"),
        HierarchicalSymNMF(affinity="precomputed"),
    ],
    expected_failed_checks=lambda model: UNSUITED if model.affinity == "precomputed" else {},
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def nested_partition(size=40, seed=0):
    """Four groups in pairs: dense inside a group, sparser inside a pair, sparsest between the pairs."""
    rng = np.random.default_rng(seed)
    level = np.kron(np.array([[3, 2, 1, 1], [2, 3, 1, 1], [1, 1, 3, 2], [1, 1, 2, 3]]), np.ones((size, size)))
    W = np.triu(rng.random(level.shape) < np.choose(level.astype(int), [0, 0.01, 0.08, 0.5]), 1).astype(float)
    shuffle = rng.permutation(4 * size)
    return sp.csr_array((W + W.T)[np.ix_(shuffle, shuffle)]), (np.arange(4 * size) // size)[shuffle]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_planted_hierarchy_is_found_exactly(seed, dtype):
    A, y = nested_partition(seed=seed)
    model = HierarchicalSymNMF(4, affinity="precomputed", random_state=seed).fit(A.astype(dtype))
    assert adjusted_rand_score(y // 2, model.tree_.cut(2)) == 1
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.membership_.dtype == model.affinity_matrix_.dtype == dtype
    assert model.objective_ == pytest.approx(average_normalized_cut(A, y), rel=1e-6)


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_clusters_do_not_depend_on_the_order_of_the_nodes(seed):
    A, y = planted_partition(300, 5, degree=20, mixing=0.05, random_state=seed)
    order = np.random.default_rng(seed).permutation(300)
    for nodes in (np.arange(300), order):
        model = HierarchicalSymNMF(5, affinity="precomputed", random_state=1).fit(A[nodes][:, nodes])
        assert adjusted_rand_score(y[nodes], model.labels_) > 0.99


def test_the_number_of_clusters_is_found_by_modularity():
    A, y = planted_partition(2000, 10, degree=20, mixing=0.1, random_state=0)
    model = HierarchicalSymNMF(None, affinity="precomputed", random_state=0).fit(A)
    assert model.n_clusters_ == 10
    assert adjusted_rand_score(y, model.labels_) > 0.99
    assert "no further split raises the modularity" in model.stop_reason_


def test_larger_resolutions_make_more_communities():
    graph = nx.ring_of_cliques(30, 5)
    numbers = [tree_of(graph, None, resolution=resolution).n_clusters_ for resolution in (0.2, 1, 4)]
    assert numbers == sorted(numbers)
    assert numbers[0] < 30 <= numbers[2]


def test_weak_communities_are_found_by_modularity():
    A, _ = lfr(1000, mixing=0.7, min_community=10, max_community=50, random_state=0)
    model = tree_of(A, None, affinity="precomputed")
    volumes = np.bincount(model.labels_, weights=A.sum(axis=1))
    inside = sum(A[own][:, own].sum() for own in (model.labels_ == c for c in range(model.n_clusters_)))
    assert inside / A.sum() - np.sum((volumes / A.sum()) ** 2) > 0.26  # by cuts alone it is 0.24


def test_samples_with_features_get_a_graph_that_is_not_normalised():
    X = np.random.default_rng(0).normal(size=(120, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 40, axis=0)
    model = tree_of(X, 3)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 40), model.labels_) == 1
    assert (
        np.asarray(model.affinity_matrix_.sum(axis=1)).max() > 1.5
    )  # degrees of a normalised one are near 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.predict([[9.1, 0.2]]) == model.labels_[40]


def test_graphs_keep_names_and_weights():
    graph = nx.Graph([("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("e", "f"), ("d", "f"), ("c", "d")])
    model = tree_of(graph, 2)
    assert model.communities() == [["a", "b", "c"], ["d", "e", "f"]]
    assert model.communities(threshold=0.5) == model.communities()
    assert model.communities().clusters_of("e") == {1}
    assert model.affinity_matrix_.max() == 1  # not normalised
    assert model.tree_.to_newick(model.node_names_) == "((a,b,c),(d,e,f));"


def test_memberships_are_made_when_asked_for():
    model = tree_of(nx.karate_club_graph())
    assert "membership_" not in vars(model)
    assert model.membership_ is model.membership_
    np.testing.assert_array_equal(model.membership_.argmax(axis=1), model.labels_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).membership_, model.membership_)
    assert not hasattr(clone(model), "membership_")
    assert not hasattr(model, "nonsense_")


def test_isolated_nodes_and_small_pieces_take_no_cluster():
    graph = nx.disjoint_union_all(
        [nx.ring_of_cliques(3, 20), *(nx.complete_graph(2),) * 3, nx.empty_graph(4)]
    )
    model = tree_of(graph, 3, min_size=5)
    assert sorted(np.bincount(model.labels_[:60])) == [20, 20, 20]
    everything = tree_of(graph, graph.number_of_nodes())
    assert everything.n_clusters_ == 70


def test_a_graph_in_pieces_is_split_between_them_first():
    graph = nx.disjoint_union(nx.barbell_graph(6, 0), nx.complete_graph(8))
    model = tree_of(graph, 3, min_size=2)
    assert model.tree_.cut(2).tolist() == [0] * 12 + [1] * 8
    assert model.objective_ == pytest.approx(average_normalized_cut(model.affinity_matrix_, model.labels_))


def test_pieces_come_before_cuts_that_cost_something():
    graph = nx.disjoint_union_all([nx.ring_of_cliques(6, 10), *(nx.complete_graph(4),) * 3])
    model = tree_of(graph, 5, min_size=4)
    assert model.tree_.cut(4).tolist()[60:] == np.repeat(model.tree_.cut(4)[60::4], 4).tolist()
    assert len(set(model.tree_.cut(4)[60:])) == 3


def test_loops_hold_nodes_together():
    A = np.array([[0.0, 1, 1], [1, 0, 1], [1, 1, 50]])
    assert tree_of(A, 2, affinity="precomputed").labels_.tolist() == [0, 0, 1]


@pytest.mark.parametrize("A", [np.zeros((1, 1)), np.ones((1, 1)), np.zeros((5, 5)), np.ones((5, 5))])
@pytest.mark.parametrize("k", [1, None])
def test_tiny_and_shapeless_graphs(A, k):
    model = HierarchicalSymNMF(k, affinity="precomputed", random_state=0).fit(A)
    expected = 0 if A.any() or len(A) == 1 else -1  # in five pieces of one sample each nothing is a cluster
    assert model.labels_.tolist() == [expected] * len(A)
    assert (model.n_iter_, len(model.history_)) == (0, 1)


def test_says_when_there_are_not_enough_clusters():
    with pytest.warns(NotConvergedWarning, match="3 clusters of 5"):
        model = HierarchicalSymNMF(5, min_size=4, random_state=0).fit(nx.ring_of_cliques(3, 5))
    assert not model.converged_


def test_an_interrupted_search_for_the_number_of_clusters(monkeypatch):
    def interrupted(growth):
        if growth.tree.n_splits == 2:
            raise KeyboardInterrupt
        prepare(growth)

    prepare = CutGrowth._prepare
    monkeypatch.setattr(CutGrowth, "_prepare", interrupted)
    with pytest.warns(InterruptedWarning, match="interrupted at 3 leaves; the tree so far is kept"):
        model = tree_of(nx.ring_of_cliques(6, 5), None)
    assert not model.converged_
    assert len(model.history_) == model.n_clusters_ == 3
    assert model.objective_ == pytest.approx(average_normalized_cut(model.affinity_matrix_, model.labels_))


def test_flatten_says_when_it_was_interrupted():
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.warns(InterruptedWarning, match="interrupted"):
        tree_of(nx.ring_of_cliques(4, 6)).flatten(callback=interrupt)


def test_refusals():
    with pytest.raises(InputError, match="Negative values"):
        tree_of(np.array([[0, -1.0], [-1.0, 0]]), 2, affinity="precomputed")
    with pytest.raises(CombinationError, match="has none at hand"):
        tree_of(Gram(np.eye(3)), 2)
    with pytest.raises(CombinationError, match="n_neighbors"):
        tree_of(np.eye(3), 2, affinity="cosine")
    for options in ({"balance": -1}, {"min_size": 0}, {"n_init": 0}, {"n_clusters": 0}):
        with pytest.raises(OptionError, match=next(iter(options))):
            HierarchicalSymNMF(**options).fit(np.eye(3))


def test_flatten_is_a_flat_factorization_from_the_leaves():
    graph = nx.ring_of_cliques(4, 6)
    model = tree_of(graph, 4)
    flat = model.flatten()
    assert isinstance(flat, SymNMF)
    np.testing.assert_array_equal(flat.labels_, model.labels_)
    assert flat.communities() == model.communities()
    assert 0 < np.count_nonzero(flat.membership_ > 1e-3) < flat.membership_.size
    with pytest.warns(UserWarning, match="belong to no cluster"):
        assert tree_of(nx.empty_graph(3), 2).flatten().membership_.shape == (3, 2)
    alone = tree_of(nx.cycle_graph(4), 4)  # no edge inside a leaf
    np.testing.assert_array_equal(alone.flatten().membership_, alone.flatten().membership_)


def test_no_array_of_n_by_n_nor_of_n_by_k():
    n, k = 20_000, 200
    A, _ = planted_partition(n, k, degree=8, mixing=0.1, random_state=0)
    tracemalloc.start()
    HierarchicalSymNMF(k, affinity="precomputed", random_state=0).fit(A)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * k / 2


CODE = """
import hashlib
from symclust import HierarchicalSymNMF
from symclust.datasets import planted_partition
A, _ = planted_partition(3000, 12, degree=12, mixing=0.3, random_state=0)
for dtype in ("float32", "float64"):
    model = HierarchicalSymNMF(12, affinity="precomputed", random_state=0).fit(A.astype(dtype))
    text = model.tree_.to_json().encode() + model.labels_.tobytes() + str(model.objective_).encode()
    print(hashlib.sha256(text).hexdigest())
"""


def test_the_same_bits_on_one_and_two_threads(printed_on):
    assert printed_on(1, CODE) == printed_on(2, CODE) != ""
