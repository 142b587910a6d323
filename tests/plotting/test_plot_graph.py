import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from symclust import HierarchicalSymNMF
from symclust.datasets import planted_partition
from symclust.exceptions import InputError, InputTypeError
from symclust.operators import as_operator
from symclust.plotting import graph_map, plot_graph


def test_nodes_of_a_cluster_are_drawn_near_each_other():
    A, y = planted_partition(300, 3, degree=12, random_state=0)
    found = graph_map(A, y)
    centres = np.array([found.positions[y == c].mean(axis=0) for c in range(3)])
    nearest = np.linalg.norm(found.positions[:, np.newaxis] - centres, axis=2).argmin(axis=1)
    assert np.mean(nearest == y) > 0.9
    assert not found.is_aggregated
    assert ((found.positions >= 0) & (found.positions <= 1)).all()


def test_without_labels_neighbours_are_near():
    ring = nx.to_scipy_sparse_array(nx.cycle_graph(40), format="csr")
    places = graph_map(ring).positions
    distance = np.linalg.norm(places[:, np.newaxis] - places, axis=2)
    assert np.mean([distance[i, (i + 1) % 40] for i in range(40)]) < 0.4 * distance.mean()


@pytest.mark.parametrize("kind", ["sparse", "dense", "operator"])
def test_a_large_graph_is_one_disc_per_cluster(kind):
    A, y = planted_partition(400, 4, degree=10, random_state=0)
    given = {"sparse": A, "dense": A.toarray(), "operator": as_operator(A)}[kind]
    y[0] = -1  # in none
    found = graph_map(given, y, max_nodes=100)
    assert found.is_aggregated
    assert found.nodes.tolist() == np.bincount(y[y >= 0]).tolist()
    i, j = found.edges[-1]
    Z = np.eye(4)[y] * (y >= 0)[:, np.newaxis]
    between = np.triu(Z.T @ A.toarray() @ Z, k=1)
    assert between[i, j] == between.max()
    apart = np.linalg.norm(found.positions[:, np.newaxis] - found.positions, axis=2)
    np.fill_diagonal(apart, 9)
    assert (apart >= found.radii + found.radii[:, np.newaxis]).all()


def test_edges_are_the_heaviest_and_the_rest_is_counted():
    A = random_array((50, 50), density=0.2, rng=np.random.default_rng(0))
    A = csr_array(A + A.T)
    found = graph_map(A, max_edges=30)
    upper = np.triu(A.toarray(), k=1)
    assert found.n_hidden == np.count_nonzero(upper) - 30
    drawn = upper[found.edges[:, 0], found.edges[:, 1]]
    assert np.allclose(np.sort(drawn), np.sort(upper[upper > 0])[-30:])


def test_many_clusters_show_the_largest():
    labels = np.repeat(np.arange(30), np.arange(1, 31))
    n = len(labels)
    found = graph_map(csr_array((n, n)), labels, max_nodes=10, max_discs=5)
    assert found.clusters.tolist() == [25, 26, 27, 28, 29]
    assert found.nodes.tolist() == [26, 27, 28, 29, 30]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_graphs_and_graphs_without_edges(n):
    found = graph_map(np.zeros((n, n)), np.arange(n))
    assert np.isfinite(found.positions).all()
    assert len(found.edges) == 0


def test_a_model_is_drawn_with_its_clusters():
    model = HierarchicalSymNMF(4, random_state=0).fit(nx.karate_club_graph())
    ax = plot_graph(model)
    assert ax.get_xlabel() == "34 nodes in 4 clusters, 78 links"
    assert sorted(text.get_text() for text in ax.texts) == ["0", "1", "2", "3"]
    assert plot_graph(model, ax=ax, max_nodes=5) is ax
    assert ax.get_xlabel() == "34 nodes in 4 clusters: discs are clusters"


def test_refuses_what_cannot_be_drawn():
    with pytest.raises(InputError, match="5 nodes is drawn as one disc per cluster: give labels"):
        graph_map(np.eye(5), max_nodes=3)
    with pytest.raises(InputError, match="labels must be 5 whole numbers"):
        graph_map(np.eye(5), [0, 1])
    with pytest.raises(InputTypeError, match="Similarities cannot be read from Graph"):
        plot_graph(nx.karate_club_graph())


def test_the_same_seed_gives_the_same_picture():
    A, y = planted_partition(80, 2, random_state=0)
    assert np.array_equal(graph_map(A, y).positions, graph_map(A, y).positions)
