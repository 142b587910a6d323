"""predict, transform and score."""

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.optimize
from scipy import sparse

from symclust import SymNMF, graphs
from symclust.exceptions import CombinationError, InputError, InputTypeError
from symclust.inputs.placing import KnownRows
from symclust.operators import Gram, as_operator

AFFINITIES = {
    "nearest_neighbors": {},
    "cosine": {},
    "gaussian": {"sigma": 10.0},
    "self_tuning": {"normalize": True},
    "gaussian_neighbors": {"n_neighbors": 6},
    "cosine_neighbors": {"n_neighbors": 6, "normalize": True},
}


def make(name, **options):
    affinity = name.removesuffix("_neighbors") if name != "nearest_neighbors" else name
    return SymNMF(3, affinity=affinity, affinity_params=AFFINITIES[name], random_state=0, **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", AFFINITIES)
def test_training_samples_keep_their_rows_and_unseen_ones_join_the_near(blobs, name, dtype):
    X, y = blobs[0].astype(dtype), blobs[1]
    model = make(name).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.membership_)
    np.testing.assert_array_equal(model.predict(X[::-7]), model.labels_[::-7])
    assert model.membership_.dtype == model.transform(X + dtype(0.01)).dtype == dtype
    near = np.random.RandomState(0).normal(scale=0.3, size=X.shape) + X
    np.testing.assert_array_equal(model.predict(near), model.labels_)
    assert len(set(zip(y, model.labels_, strict=True))) == 3


@pytest.mark.filterwarnings("ignore:3 of 40 samples belong to no cluster")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_matrix, sparse.dok_array])
@pytest.mark.parametrize("trained", [np.asarray, sparse.csr_array])
def test_training_samples_are_known_in_any_form(trained, form):
    X = np.random.RandomState(0).poisson(0.4, (40, 8)).astype(float)
    model = SymNMF(2, affinity="cosine", random_state=0).fit(trained(X))
    np.testing.assert_array_equal(model.transform(form(X)), model.membership_)


def test_zeros_of_any_sign_stored_or_not_are_the_same():
    X = np.random.RandomState(0).poisson(1, (30, 4)).astype(float)
    stored = sparse.csr_array((X.ravel(), np.tile(np.arange(4), 30), np.arange(0, 121, 4)), shape=(30, 4))
    assert stored.nnz == 120
    for given in (stored, X):
        model = SymNMF(2, affinity="cosine", random_state=0).fit(given)
        np.testing.assert_array_equal(model.transform(np.where(X == 0, -0.0, X)), model.membership_)
        assert stored.nnz == 120


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_two_different_rows_have_one_key(dtype):
    X = np.array(list(itertools.product((0, 1, 2, -1), repeat=6)), dtype=dtype)  # few bits, in few places
    X = np.concatenate([X, X / 3, np.nextafter(X, dtype(9))])
    X = np.unique(X + dtype(0), axis=0)
    known = KnownRows(X)
    assert len(np.unique(known.keys(X), axis=0)) == len(X)
    assert len(np.unique(known.keys(X)[:, 0])) == len(X)  # of one of the two sums alone
    order = np.random.RandomState(0).permutation(len(X))
    np.testing.assert_array_equal(known.find(known.keys(X[order])), order)
    np.testing.assert_array_equal(known.find(known.keys(sparse.csr_array(X[order]))), order)
    assert (known.find(known.keys(X * dtype(1.5) + 7)) == -1).all()


def test_duplicate_entries_of_a_sparse_row_are_added_first():
    X = np.array([[3.0, 0.0, 1.0]])
    twice = sparse.csr_array((np.array([1.0, 1.0, 2.0]), np.array([2, 0, 0]), np.array([0, 3])), shape=(1, 3))
    known = KnownRows(X)
    assert known.find(known.keys(twice)) == [0]
    assert twice.nnz == 3


def test_duplicates_keep_what_each_was_given():
    X = np.repeat(np.random.RandomState(0).random_sample((6, 2)), 8, axis=0)
    model = SymNMF(4, init="random", random_state=0).fit(X)
    assert (model.membership_[0] != model.membership_[1]).any()
    np.testing.assert_array_equal(model.transform(X), model.membership_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_precomputed_takes_similarities_to_the_training_samples(blobs, form):
    X, _ = blobs
    train, test = X[::2], X[1::2]
    A = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 20)
    model = SymNMF(3, affinity="precomputed", random_state=0).fit(form(A[::2, ::2]))
    np.testing.assert_array_equal(model.predict(form(A[::2, ::2])), model.labels_)
    nearest = ((test[:, None] - train) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(form(A[1::2, ::2])), model.labels_[nearest])


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "precomputed"])
def test_new_nodes_of_a_graph_are_given_by_their_edges(affinity):
    graph = nx.caveman_graph(3, 6)
    A = nx.to_numpy_array(graph)
    model = SymNMF(3, affinity=affinity, random_state=0).fit(graph)
    np.testing.assert_array_equal(model.transform(A), model.membership_)
    np.testing.assert_array_equal(model.transform(sparse.coo_array(A)), model.membership_)
    new = np.zeros((1, 18))
    new[0, [7, 8, 2]] = 1, 2, 0.5
    assert model.predict(new) == model.labels_[7]


def test_normalised_edges_of_a_new_node():
    graph = nx.gnm_random_graph(20, 60, seed=0)
    A = nx.to_scipy_sparse_array(graph)
    model = SymNMF(3, affinity="nearest_neighbors", random_state=0).fit(graph)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), graphs.normalized_cut(A * 1.0).toarray())
    new = np.random.RandomState(1).random_sample(20)
    a = new / np.sqrt(new.sum() * A.sum(axis=0))
    expected, _ = scipy.optimize.nnls(model.membership_, a)
    np.testing.assert_allclose(model.transform([new])[0], expected, atol=1e-10)


def test_after_an_operator(blobs):
    X, _ = blobs
    gram = SymNMF(3, random_state=0).fit(Gram(X))
    np.testing.assert_array_equal(gram.predict(X @ X.T), gram.labels_)
    dense = SymNMF(3, random_state=0).fit(as_operator(X @ X.T))
    np.testing.assert_array_equal(dense.transform(X @ X.T), dense.membership_)


def test_rows_are_the_nonnegative_least_squares_solutions(blobs):
    X, _ = blobs
    model = make("gaussian").fit(X)
    new = X[::11] + 0.5
    similarities = np.exp(-((new[:, None] - X) ** 2).sum(axis=2) / 100)
    expected = [scipy.optimize.nnls(model.membership_, a)[0] for a in similarities]
    np.testing.assert_allclose(model.transform(new), expected, atol=1e-8)


def test_many_new_samples_are_placed_in_blocks(blobs, monkeypatch):
    X, _ = blobs
    model = make("self_tuning").fit(X)
    whole, score = model.transform(X + 0.1), model.score(X + 0.1)
    monkeypatch.setattr("symclust.inputs.placing.ROWS", 7)
    np.testing.assert_allclose(model.transform(X + 0.1), whole, atol=1e-12)
    np.testing.assert_array_equal(model.transform(X), model.membership_)
    assert model.score(X + 0.1) == pytest.approx(score)


def test_a_far_sample_belongs_to_nothing(blobs):
    model = make("gaussian").fit(blobs[0])
    assert not model.transform([[1e6, 0, 0]]).any()
    assert model.predict([[1e6, 0, 0]]).tolist() == [-1]
    assert model.score([[1e6, 0, 0]]) == 0


def test_functions_cannot_compare_unseen_samples(blobs):
    X, _ = blobs
    model = SymNMF(3, affinity=lambda X: X @ X.T, random_state=0).fit(X)
    for method in (model.predict, model.transform, model.score):
        with pytest.raises(CombinationError, match=r"affinity is a function.*affinity='precomputed'"):
            method(X)


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
def test_the_width_must_fit(blobs, method):
    X, _ = blobs
    features = SymNMF(3, random_state=0).fit(X)
    with pytest.raises(InputError, match=r"X has 2 features, but SymNMF is expecting 3 features as input\."):
        getattr(features, method)(X[:, :2])
    graph = SymNMF(2, random_state=0).fit(nx.karate_club_graph())
    with pytest.raises(InputError, match=r"X has 3 features.*expecting 34.*similarities of each new sample"):
        getattr(graph, method)(X)


@pytest.mark.parametrize("given", [nx.path_graph(34), as_operator(np.eye(34))])
def test_a_graph_is_not_a_list_of_new_samples(given):
    model = SymNMF(2, random_state=0).fit(nx.karate_club_graph())
    with pytest.raises(InputTypeError, match=f"from a {type(given).__name__}.*the 34 training samples"):
        model.predict(given)


def test_not_finite(blobs):
    model = SymNMF(3, random_state=0).fit(blobs[0])
    with pytest.raises(InputError, match="Input X contains NaN"):
        model.predict([[np.nan, 0, 0]])
