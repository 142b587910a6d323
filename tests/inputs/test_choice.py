"""What affinity="auto" chooses, what it says of it, and the steps from one graph to another."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from symclust import HierarchicalSymNMF, SymNMF, graphs
from symclust.datasets import planted_partition
from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.operators import Gram


def fitted(X, **options):
    return SymNMF(2, random_state=0, max_iter=5, tol=1.0, **options).fit(X)


def same(model, A):
    return abs(model.affinity_matrix_ - A).max() <= 1e-12


@pytest.fixture
def vectors():
    return np.random.default_rng(0).normal(size=(60, 60))


@pytest.fixture
def documents():
    return sp.random_array((80, 40), density=0.09, rng=np.random.default_rng(0), format="csr")


@pytest.fixture
def club():
    return nx.karate_club_graph()


def test_vectors_with_signs_or_few_features_are_compared_by_distance(vectors):
    for X in (vectors, abs(vectors[:, :10])):
        model = fitted(X)
        assert same(model, graphs.nearest_neighbors(X, weights="fuzzy"))
        assert "by distance, columns as they are" in model.affinity_


def test_clusters_do_not_depend_on_units(vectors):
    X = vectors[:, :10] * np.r_[np.ones(9), 1000]
    model = fitted(X)
    assert "in units of their spread (scale='soft')" in model.affinity_
    assert same(model, graphs.nearest_neighbors(X, weights="self_tuning", scale="soft"))
    raw = fitted(X, affinity_params={"scale": None})
    assert same(raw, graphs.nearest_neighbors(X, weights="fuzzy"))
    assert "columns as they are" in raw.affinity_
    moved = model.predict(X + 1e-9)
    assert (moved == model.labels_).mean() > 0.9  # noise: one sample is as near to both


def test_rows_of_length_one_stay_as_they_are(vectors):
    X = vectors * np.r_[np.ones(59), 20]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    assert same(fitted(X), graphs.nearest_neighbors(X, weights="fuzzy"))


def test_nonnegative_vectors_with_many_features_are_compared_in_two_views(vectors):
    X = abs(vectors)
    model = fitted(X)
    assert same(model, graphs.multi_view(X))
    assert "in two views" in model.affinity_
    one = fitted(X, affinity_params={"scale": None})
    assert same(one, graphs.nearest_neighbors(X, metric="cosine", weights="fuzzy"))
    assert "by direction" in one.affinity_


def test_views_of_the_user(vectors):
    one, other = (
        {"columns": range(30), "scale": "standard"},
        {"columns": slice(30, 60), "weights": "gaussian"},
    )
    views = [one, other]
    model = fitted(vectors, affinity_params={"views": views})
    assert same(model, graphs.multi_view(vectors, views))
    np.testing.assert_array_equal(model.predict(vectors + 1e-9), model.labels_)
    for wrong in ([], [{"colums": [1]}], [3]):
        with pytest.raises(OptionError, match="view"):
            fitted(vectors, affinity_params={"views": wrong})
    with pytest.raises(OptionError, match="60 columns"):
        fitted(vectors, affinity_params={"views": [{"columns": [99]}]})


def test_nonnegative_samples_of_zeros_mostly_walk_along_cosines(documents):
    model = fitted(documents)
    W = graphs.nearest_neighbors(documents, weights="cosine", normalize=False)
    assert same(model, graphs.random_walk(W))
    assert "like weights of words" in model.affinity_
    assert "by distance" in fitted(documents - 0.5 * (documents > 0)).affinity_


def test_a_few_zeros_make_no_document(vectors):
    """Stored or not, and explicit zeros are zeros."""
    X = abs(vectors) * (abs(vectors) > 1)
    assert "in two views" in fitted(sp.csr_array(X)).affinity_
    X[:, 8:] = 0
    full = sp.csr_array((X.ravel(), np.tile(np.arange(60), 60), np.arange(0, 3601, 60)), shape=(60, 60))
    assert full.nnz == 3600
    assert "like weights of words" in fitted(full).affinity_


def test_sparse_networks_are_walked_on(club):
    model = fitted(club)
    A = nx.to_scipy_sparse_array(club, dtype=float)
    assert same(model, graphs.random_walk(A, n_kept=100, measure="root"))
    assert "random walks" in model.affinity_
    assert (fitted(A, affinity="network").affinity_matrix_ != model.affinity_matrix_).nnz == 0
    assert (fitted(A.toarray(), affinity="network").affinity_matrix_ != model.affinity_matrix_).nnz == 0


def test_dense_networks_get_a_milder_normalised_cut():
    A = planted_partition(100, 2, random_state=0)[0]
    model = fitted(A, affinity="network")
    assert same(model, graphs.normalized_cut(A, 0.3))
    assert "power 0.3" in model.affinity_


def test_methods_that_normalise_for_themselves_get_the_graph_before(vectors, documents, club):
    def tree(X):
        return HierarchicalSymNMF(2, random_state=0).fit(X)

    assert same(tree(abs(vectors)), graphs.multi_view(abs(vectors), normalize=False))
    assert same(tree(documents), graphs.nearest_neighbors(documents, weights="cosine", normalize=False))
    assert same(tree(club), nx.to_scipy_sparse_array(club, dtype=float))


def test_operators_are_taken_as_they_are(vectors):
    A = Gram(abs(vectors))
    model = fitted(A)
    assert model.affinity_matrix_ is A
    assert model.affinity_ == "the operator as it was given"


def test_parameters_reach_what_was_chosen(vectors, documents, club):
    near = graphs.nearest_neighbors(vectors, 3, weights="fuzzy")
    assert same(fitted(vectors, affinity_params={"n_neighbors": 3}), near)
    W = graphs.nearest_neighbors(documents, 4, weights="cosine", normalize=False)
    assert same(fitted(documents, affinity_params={"n_neighbors": 4, "window": 2}), graphs.random_walk(W, 2))
    longer = fitted(club, affinity_params={"window": 5})
    assert same(longer, graphs.random_walk(club, 5, n_kept=100, measure="root"))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_symmetric_matrix_is_asked_about(form, club):
    A = form(nx.to_numpy_array(club))
    with pytest.raises(InputError, match=r"affinity='precomputed'.*affinity='nearest_neighbors'"):
        fitted(A)
    assert fitted(A, affinity="nearest_neighbors").n_features_in_ == 34


def test_steps_start_from_any_graph(vectors, club):
    A = nx.to_scipy_sparse_array(club, dtype=float)
    kept = A.copy()
    for of in ({}, {"of": "precomputed"}):
        given = club if not of else A
        assert same(
            fitted(given, affinity="normalized_cut", affinity_params={"exponent": 0.25, **of}),
            graphs.normalized_cut(A, 0.25),
        )
        assert same(
            fitted(given, affinity="random_walk", affinity_params={"window": 2, **of}),
            graphs.random_walk(A, 2),
        )
    assert (kept != A).nnz == 0
    neighbours = {"of": "nearest_neighbors", "n_neighbors": 4, "n_kept": 10}
    model = fitted(vectors, affinity="random_walk", affinity_params=neighbours)
    assert same(model, graphs.random_walk(graphs.nearest_neighbors(vectors, 4, normalize=False), n_kept=10))
    assert model.affinity_ == "affinity='random_walk' of affinity='nearest_neighbors'"
    gaussian = fitted(vectors, affinity="normalized_cut", affinity_params={"of": "gaussian", "sigma": 5.0})
    assert same(gaussian, graphs.normalized_cut(graphs.gaussian(vectors, 5.0)))


def test_weights_of_edges_are_read_by_name(club):
    for number, (_, _, data) in enumerate(club.edges(data=True)):
        data["strength"] = 1.0 + number
    A = nx.to_scipy_sparse_array(club, weight="strength", dtype=float)
    model = fitted(club, affinity="random_walk", affinity_params={"weight": "strength"})
    assert same(model, graphs.random_walk(A))


def test_training_samples_and_nodes_stay_where_they_are(documents, club):
    for X, rows in ((documents, documents), (club, nx.to_numpy_array(club))):
        model = SymNMF(3, random_state=0).fit(X)
        np.testing.assert_array_equal(model.transform(rows), model.membership_)
        np.testing.assert_array_equal(model.predict(rows), model.labels_)


def test_new_nodes_are_placed_by_their_walks():
    ring = nx.ring_of_cliques(4, 6)
    model = SymNMF(4, random_state=0).fit(ring)
    edges = np.zeros((4, 24))
    for cluster in range(4):
        edges[cluster, 6 * cluster : 6 * cluster + 3] = 1
    np.testing.assert_array_equal(model.predict(edges), model.labels_[::6])


def test_refusals(vectors, club):
    with pytest.raises(CombinationError, match="no meaning for a network"):
        fitted(club, affinity_params={"n_neighbors": 3})
    with pytest.raises(CombinationError, match="affinity='gaussian' compares samples"):
        fitted(club, affinity="random_walk", affinity_params={"of": "gaussian"})
    with pytest.raises(CombinationError, match="holds none"):
        fitted(abs(vectors), affinity="random_walk", affinity_params={"of": "cosine"})
    with pytest.raises(OptionError, match="does not fit affinity='nearest_neighbors'"):
        fitted(vectors, affinity="random_walk", affinity_params={"winow": 3})
    with pytest.raises(InputError, match="Negative values"):
        fitted(-nx.to_numpy_array(club), affinity="network")
    with pytest.raises(CombinationError, match="is an operator"):
        fitted(Gram(abs(vectors)), affinity="network")


@pytest.mark.parametrize("kind", [np.float16, np.int8])
def test_small_embeddings_are_compared_in_single_precision(vectors, kind):
    X = (20 * vectors).astype(kind)
    model = fitted(X)
    assert model.affinity_matrix_.dtype == np.float32
    assert same(model, graphs.nearest_neighbors(X.astype(np.float32), weights="fuzzy"))
