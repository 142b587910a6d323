"""The adjusted modularity, and "auto", which uses it."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from symclust import SymNMF
from symclust.datasets import planted_partition
from symclust.exceptions import InputError, OptionError
from symclust.hierarchy import CutGrowth
from symclust.operators import as_operator
from symclust.selection import Features, Pairs, Study
from symclust.selection._nulls import shuffled_entries, shuffled_pairs
from symclust.selection._rules import chance_of, smallest_good
from symclust.selection.methods.adjusted_modularity import (
    AdjustedModularity,
    main_pieces,
    measure,
    modularities,
)
from symclust.selection.methods.auto import Auto
from symclust.selection.methods.quick_looks import modularity

CANDIDATES = tuple(range(2, 11))


def study(data, candidates=CANDIDATES, seed=0, **options):
    data = data if isinstance(data, Pairs | Features) else Pairs(data)
    return Study(data, SymNMF(affinity="precomputed"), candidates, np.random.RandomState(seed), **options)


def neighbours(X):
    return SymNMF(affinity="nearest_neighbors")._read(X).operator.matrix


def samples(X):
    return Pairs(neighbours(X), Features(X), neighbours)


def test_the_curves_of_a_tree_are_those_of_its_labels():
    A, _ = planted_partition(200, 4, degree=10, mixing=0.2, random_state=0)
    found = modularities(A, CANDIDATES, seed=3)
    tree = CutGrowth(as_operator(A), 0.25, 2, False, 2, 3).grow(10)
    degrees = np.asarray(A.sum(axis=1)).ravel()
    for (Q, M), k in zip(found.T, CANDIDATES, strict=True):
        labels = tree.cut(k)
        assert np.isclose(Q, modularity(A, labels))
        assert np.isclose(M, 1 - ((np.bincount(labels, degrees) / degrees.sum()) ** 2).sum())


def test_a_tree_without_that_many_leaves_says_nothing():
    found = modularities(nx.to_numpy_array(nx.complete_graph(4)), (2, 3, 4, 5), seed=0)
    assert np.isfinite(found[:, :3]).all()
    assert np.isnan(found[:, 3]).all()
    assert np.isnan(modularities(sparse.csr_array((3, 3)), (2, 3), seed=0)).all()


def test_scores_are_adjusted_for_chance():
    Q, M = np.array([0.4, 0.6]), np.array([0.5, 0.75])
    own = np.array([[Q, M], [Q, M], [Q / 2, M]])
    nulls = np.array([[0.1 * M, M], [0.2 * M, M], [0.3 * M, M]])
    found = measure(own, nulls)
    assert np.allclose(found.whole, np.sqrt(M) * (0.8 - 0.2) / 0.8)
    assert np.allclose(found.scores[1], np.sqrt(M) * (0.4 - 0.2) / 0.8)
    assert np.allclose(found.null_scores[0], np.sqrt(M) * (0.1 - 0.25) / 0.75)  # against the other two
    assert np.array_equal(found.modularity, Q)


def test_the_fewest_clusters_within_a_standard_error_of_the_best():
    best = np.array([0.5, 0.6, 0.7])
    assert smallest_good(np.column_stack([best - 0.1, best])) == 1  # the same distance in every part
    assert smallest_good(np.column_stack([best + np.array([-0.1, 0.09, -0.02]), best])) == 0


def test_the_probability_is_that_of_one_more_value():
    rng = np.random.RandomState(0)
    draws = rng.normal(size=(4000, 6))
    found = [chance_of(values[0], values[1:]) for values in draws]
    assert abs(np.mean(np.array(found) < 0.1) - 0.1) < 0.02


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_planted_communities_are_found(k):
    A, _ = planted_partition(80 * k, k, degree=14, mixing=0.2, random_state=k)
    found = Auto().choose(study(A))
    assert found.n_clusters == k
    assert "adjusted_modularity" in found.sentence
    assert found.p_values[k - 2] == 1 / 11


@pytest.mark.parametrize("seed", range(4))
def test_networks_without_communities_are_one_cluster(seed):
    A, _ = planted_partition(300, 3, degree=8, mixing=0.1, random_state=seed)
    found = Auto().choose(study(shuffled_pairs(A, np.random.RandomState(seed)), seed=seed))
    assert found.n_clusters == 1
    assert found.sentence.startswith("One cluster")


@pytest.mark.parametrize(
    "draw", [lambda rng: rng.normal(size=(150, 3)), lambda rng: rng.uniform(size=(150, 3))]
)
def test_samples_without_clusters_are_one_cluster(draw):
    assert [Auto().choose(study(samples(draw(np.random.RandomState(s))))).n_clusters for s in range(3)] == [
        1
    ] * 3


def test_blobs_are_counted_through_their_neighbour_graph():
    X, _ = make_blobs(300, 5, centers=4, random_state=1)
    assert Auto().choose(study(samples(X))).n_clusters == 4
    found = Auto().choose(Study(Features(X), KMeans(), CANDIDATES, np.random.RandomState(0)))
    assert found.n_clusters == 4
    assert found.method == "auto"
    assert "neighbour graph of the samples" in found.sentence


def test_similarities_of_all_pairs_are_counted():
    X, _ = make_blobs(120, 4, centers=3, random_state=0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 20)
    assert Auto().choose(study(K)).n_clusters == 3


def test_documents_are_compared_with_words_dealt_out_anew():
    rng = np.random.default_rng(0)
    topic = np.repeat(np.arange(3), 40)
    own = np.arange(150) // 50 == topic[:, None]
    X = sparse.csr_array((rng.random((120, 150)) < np.where(own, 0.3, 0.02)).astype(float))

    def make(X):
        return SymNMF()._read(X).operator.matrix

    assert Auto().choose(study(Pairs(make(X), Features(X), make))).n_clusters == 3
    Z = shuffled_entries(X, np.random.RandomState(0))
    assert np.array_equal(Z.count_nonzero(axis=0), X.count_nonzero(axis=0))
    assert np.array_equal(Z.count_nonzero(axis=1), X.count_nonzero(axis=1))
    assert Auto().choose(study(Pairs(make(Z), Features(Z), make))).n_clusters == 1


def test_the_network_is_looked_at_and_not_what_was_made_of_it():
    A, _ = planted_partition(200, 4, degree=10, mixing=0.1, random_state=0)
    made = Pairs(sparse.csr_array(np.ones((200, 200))), Pairs(A), None)
    found = Auto().choose(study(made))
    assert found.n_clusters == 4
    assert "on the network" in found.sentence


def test_small_pieces_are_left_out():
    pieces = [nx.complete_graph(60), nx.complete_graph(30)] + [nx.complete_graph(1)] * 5
    A = sparse.csr_array(nx.to_scipy_sparse_array(nx.disjoint_union_all(pieces), dtype=float))
    assert main_pieces(A).shape == (90, 90)
    assert main_pieces(A.toarray()).shape == (90, 90)
    assert Auto().choose(study(A)).n_clusters == 2


def test_nothing_to_cluster_is_one_cluster():
    assert Auto().choose(study(sparse.csr_array((20, 20)), (2, 3))).n_clusters == 1


def test_answers_do_not_depend_on_the_number_of_jobs():
    A, _ = planted_partition(120, 3, degree=8, mixing=0.2, random_state=0)
    first, second = (AdjustedModularity().choose(study(A, n_jobs=jobs)) for jobs in (None, 2))
    for name, curve in first.curves.items():
        assert np.array_equal(curve.values, second.curves[name].values, equal_nan=True)


def test_progress_is_told():
    seen = []
    A, _ = planted_partition(60, 2, degree=8, mixing=0.1, random_state=0)
    AdjustedModularity(n_parts=2, n_nulls=3).choose(study(A, (2, 3), callback=seen.append))
    assert [(step.done, step.total) for step in seen] == [(1, 3), (2, 3), (3, 3)] * 2


def test_wrong_options_and_negative_similarities_are_refused():
    A, _ = planted_partition(60, 2, degree=8, mixing=0.1, random_state=0)
    for wrong in ({"n_parts": 1}, {"share": 1.5}, {"n_nulls": 0}, {"level": 0}):
        with pytest.raises(OptionError):
            AdjustedModularity(**wrong).choose(study(A))
    with pytest.raises(InputError, match="negative entries"):
        Auto().choose(study(-A))
