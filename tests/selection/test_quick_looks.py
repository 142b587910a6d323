"""Silhouette and modularity: the numbers, and the answers."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_score

from symclust import HierarchicalSymNMF, SymNMF
from symclust.datasets import planted_partition
from symclust.exceptions import CombinationError
from symclust.selection import Features, Pairs, Study
from symclust.selection._nulls import shuffled_pairs
from symclust.selection.methods.quick_looks import Modularity, Silhouette, modularity

TREE = HierarchicalSymNMF(affinity="precomputed")


def study(data, estimator, candidates=(2, 3, 4, 5, 6), seed=0):
    return Study(data, estimator, candidates, np.random.RandomState(seed))


@pytest.fixture
def blobs():
    return make_blobs(120, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)[0]


def test_the_silhouette_is_scikit_learns(blobs):
    found = Silhouette().choose(study(Features(blobs), KMeans(n_init=3), (4,)))
    labels = KMeans(4, n_init=3, random_state=0).fit_predict(blobs)
    assert np.isclose(found.scores[0], silhouette_score(blobs, labels))
    assert found.stability.shape == (120,)
    assert 0 <= found.stability.min() <= found.stability.max() <= 1


def test_the_silhouette_of_similarities_uses_one_minus_the_scaled_similarity(blobs):
    A = np.exp(-(((blobs[:, None] - blobs) ** 2).sum(axis=2)) / 8) * 3
    found = Silhouette().choose(study(Pairs(A), SymNMF(affinity="precomputed"), (2, 3, 4, 5)))
    assert found.n_clusters == 4
    np.fill_diagonal(A, 0)
    distances = np.maximum(1 - A / np.sqrt(np.outer(A.max(axis=1), A.max(axis=1))), 0)
    np.fill_diagonal(distances, 0)
    seed = study(Pairs(A), None).seeds(1)[0]
    labels = SymNMF(4, affinity="precomputed", random_state=seed).fit_predict(A)
    assert np.isclose(found.scores[2], silhouette_score(distances, labels, metric="precomputed"))


def test_features_behind_a_graph_are_what_the_silhouette_compares(blobs):
    def make(X):
        return SymNMF(affinity="nearest_neighbors").fit(X).affinity_matrix_

    found = Silhouette().choose(
        study(Pairs(make(blobs), Features(blobs), make), SymNMF(affinity="precomputed"))
    )
    assert found.n_clusters == 4
    assert found.scores[2] > 0.7


def test_many_samples_are_drawn_from(blobs):
    found = Silhouette(max_samples=50).choose(study(Features(blobs), KMeans(n_init=3)))
    assert found.n_clusters == 4
    assert np.isfinite(found.stability).sum() == 50


@settings(deadline=None, max_examples=40)
@given(n=st.integers(2, 25), k=st.integers(1, 5), seed=st.integers(0, 10**6), dense=st.booleans())
def test_modularity_is_that_of_networkx(n, k, seed, dense):
    graph = nx.gnp_random_graph(n, 0.4, seed=seed)
    if graph.number_of_edges() == 0:
        graph.add_edge(0, 1)
    labels = np.random.RandomState(seed).randint(k, size=n)
    A = nx.to_numpy_array(graph)
    communities = [set(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels)]
    expected = nx.community.modularity(graph, communities)
    assert np.isclose(modularity(A if dense else sparse.csr_array(A), labels), expected)


def test_samples_in_no_cluster_add_nothing():
    A = nx.to_numpy_array(nx.ring_of_cliques(3, 4))
    labels = np.repeat([0, 1, -1], 4)
    alone = np.r_[np.repeat([0, 1], 4), 2, 3, 4, 5]
    degrees = A[8:].sum(axis=1) / A.sum()
    assert np.isclose(modularity(A, labels), modularity(A, alone) + (degrees**2).sum())
    assert modularity(A, [-1] * 12) == 0


def test_modularity_finds_planted_clusters_and_none_where_there_are_none():
    A, _ = planted_partition(300, 4, degree=12, mixing=0.2, random_state=0)
    found = Modularity().choose(study(Pairs(A), TREE))
    assert found.n_clusters == 4
    assert found.p_values.min() == 1 / 6
    none = Modularity().choose(study(Pairs(shuffled_pairs(A, np.random.RandomState(7))), TREE))
    assert none.n_clusters == 1
    assert none.sentence.startswith("One cluster")


def test_modularity_needs_similarities(blobs):
    with pytest.raises(CombinationError, match="looks at similarities"):
        Modularity().choose(study(Features(blobs), KMeans()))


def test_answers_repeat(blobs):
    for method in (Silhouette(max_samples=60), Modularity(n_nulls=3)):
        A, _ = planted_partition(150, 3, degree=10, mixing=0.1, random_state=0)
        first, again = (method.choose(study(Pairs(A), TREE, (2, 3, 4), seed=5)) for _ in range(2))
        assert np.array_equal(first.scores, again.scores)
