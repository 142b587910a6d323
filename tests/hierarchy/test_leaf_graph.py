"""Graphs of joined nodes: what they keep of the graph they stand for, and when nodes are not joined."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from symclust.datasets import planted_partition
from symclust.graphs import nearest_neighbors
from symclust.hierarchy import CutGrowth, LeafGraph
from symclust.operators import as_operator


@pytest.fixture(scope="module")
def neighbors():
    X, y = make_blobs(3000, 5, centers=4, random_state=0)
    return nearest_neighbors(X), y


def dense(graph):
    W = sp.csr_array((graph.weights, graph.indices, graph.indptr), shape=(graph.n, graph.n)).toarray()
    return W + np.diag(graph.loops)


@pytest.mark.parametrize("n_nodes", [2000, 800, 100])
def test_a_coarser_graph_sums_what_it_stands_for(neighbors, n_nodes):
    A = neighbors[0]
    graph = LeafGraph.whole(as_operator(A))
    coarse, place = graph.coarser(n_nodes, 0)
    assert coarse.n <= n_nodes
    assert_array_equal(np.unique(place), np.arange(coarse.n))
    Z = (place[:, None] == np.arange(coarse.n)).astype(float)
    assert_allclose(dense(coarse), Z.T @ (A @ Z), atol=1e-12)
    assert_allclose(coarse.volumes, Z.T @ graph.volumes)
    assert_array_equal(coarse.sizes, Z.sum(axis=0))
    assert_allclose(coarse.association(), graph.association())


def test_a_graph_that_is_small_enough_is_returned_itself(neighbors):
    graph = LeafGraph.whole(as_operator(neighbors[0]))
    same, place = graph.coarser(graph.n, 0)
    assert same is graph
    assert_array_equal(place, np.arange(graph.n))


def test_joining_goes_by_the_seed_alone(neighbors):
    graph = LeafGraph.whole(as_operator(neighbors[0]))
    first, again, other = (graph.coarser(500, seed)[1] for seed in (1, 1, 2))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_nodes_without_common_neighbours_are_not_joined():
    A, _ = planted_partition(n_samples=3000, n_clusters=4, degree=15, mixing=0.5, random_state=0)
    graph = LeafGraph.whole(as_operator(A))
    assert graph.coarser(100, 0)[0] is graph


@pytest.mark.parametrize(
    ("A", "places"),
    [
        (np.zeros((3, 3)), [0, 1, 2]),
        (np.diag(np.arange(3.0)), [0, 1, 2]),
        (np.kron(np.eye(2), [[0, 1], [1, 0]]), [0, 0, 1, 1]),
    ],
)
def test_it_ends_where_there_is_nothing_left_to_join(A, places):
    coarse, place = LeafGraph.whole(as_operator(sp.csr_array(A))).coarser(1, 0)
    assert place.tolist() == places
    assert len(coarse.indices) == 0


def test_leaves_of_a_coarser_graph_are_those_of_the_graph(neighbors):
    A, y = neighbors
    coarse, place = LeafGraph.whole(as_operator(A)).coarser(700, 0)
    smallest = 300  # nodes of A, not of the coarser graph
    tree = CutGrowth(coarse, 0.25, smallest, False, 1, 0).grow(4)
    labels = tree.cut(4)[place]
    assert np.bincount(labels).min() >= smallest
    sets = [set(np.flatnonzero(labels == l)) for l in range(4)]
    for cluster in range(4):
        own = set(np.flatnonzero(y == cluster))
        assert max(len(own & s) / len(own | s) for s in sets) > 0.97
