"""Samples that are repeated: copies use up no neighbours, and have one label."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import symclust
from symclust import (
    Diana,
    HierarchicalSymNMF,
    KernelConvexNMF,
    KernelKMeans,
    LeftStochastic,
    OffDiagonalSymNMF,
    SpectralNJW,
    SpectralUnnormalized,
    SpectralYuShi,
    SymmetricFactorization,
    SymNMF,
)
from symclust.exceptions import DegenerateWarning
from symclust.graphs import first_of_equal, nearest_neighbors

ESTIMATORS = [
    Diana,
    HierarchicalSymNMF,
    KernelConvexNMF,
    KernelKMeans,
    LeftStochastic,
    OffDiagonalSymNMF,
    SpectralNJW,
    SpectralUnnormalized,
    SpectralYuShi,
    SymNMF,
    SymmetricFactorization,
]


def rounded_blobs(n=600, apart=10.0, seed=0):
    """Two Gaussian blobs on a grid: about ten copies of each row."""
    truth = np.arange(n) % 2
    X = np.random.default_rng(seed).normal(size=(n, 2))
    X[:, 0] += apart * truth
    return np.round(X), truth


def make(estimator, k, **options):
    seed = {} if estimator is Diana else {"random_state": 0}
    return estimator(k, **seed, **options)


def has_one_label_each(X, labels):
    return bool((labels == labels[first_of_equal(X)]).all())


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_two_blobs_on_a_grid_are_found(estimator, form):
    X, truth = rounded_blobs()
    model = make(estimator, 2, affinity="nearest_neighbors").fit(form(X))
    assert adjusted_rand_score(truth, model.labels_) == 1


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_copies_have_one_label_even_where_clusters_meet(estimator):
    X, _ = rounded_blobs(apart=1.5)
    model = make(estimator, 4).fit(X)
    assert has_one_label_each(X, model.labels_)
    np.testing.assert_array_equal(model.predict(X[::7]), model.labels_[::7])


@pytest.mark.parametrize("weights", ["fuzzy", "self_tuning", "cosine"])
def test_edges_between_repeated_rows_weigh_the_geometric_mean_of_all_pairs_and_one(weights):
    X, _ = rounded_blobs()
    X += np.pi, np.e  # no two directions are the same
    first, counts = np.unique(first_of_equal(X), return_counts=True)
    A = nearest_neighbors(X, n_neighbors=5, weights=weights, normalize=False)
    alone = nearest_neighbors(X[first], n_neighbors=5, weights=weights, normalize=False).toarray()
    share = np.sqrt(np.outer(counts, counts)) / (np.add.outer(counts, counts) - 1)
    np.testing.assert_allclose(A[first][:, first].toarray(), alone * share, rtol=1e-12)
    assert (A != A.T).nnz == 0


def test_a_heavy_row_is_no_cluster_of_its_own():
    """A dense group, half of it copies of one row, beside a scattered one."""
    rng = np.random.default_rng(0)
    dense = np.vstack([np.ones((150, 6)), 1 + (rng.random((150, 6)) < 0.15)])
    X = np.vstack([dense, np.round(rng.uniform(2, 10, size=(150, 6)))])
    labels = HierarchicalSymNMF(2, random_state=0).fit(X).labels_
    assert adjusted_rand_score(np.arange(450) < 300, labels) > 0.9


def test_edges_do_not_multiply_with_copies():
    X = np.concatenate([np.random.default_rng(0).normal(size=(100, 2)), np.zeros((10_000, 2))])
    A = nearest_neighbors(X)
    assert A.nnz <= 2 * (A.shape[0].bit_length() + 1) * A.shape[0]
    assert A.sum(axis=1).min() > 0


def test_samples_that_are_all_equal_are_one_cluster():
    with pytest.warns(DegenerateWarning, match="Only 1 samples are distinct"):
        labels = SymNMF(2, random_state=0).fit(np.ones((50, 3))).labels_
    assert len(set(labels)) == 1


def test_more_clusters_than_distinct_samples_are_named():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], [30, 20, 10], axis=0)
    with pytest.warns(DegenerateWarning, match=r"of the 5 clusters .* Only 3 samples are distinct"):
        SymNMF(5, random_state=0).fit(X)


def test_documents_that_differ_in_length_alone_are_copies():
    """Unit rows of parallel counts differ in their last bits."""
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 2
    words = rng.integers(1, 4, size=(20, 3))[rng.integers(0, 20, 300)]
    counts = np.zeros((300, 6))
    for topic in (0, 1):
        counts[truth == topic, 3 * topic : 3 * topic + 3] = words[truth == topic]
    counts *= rng.integers(1, 12, size=(300, 1))
    for affinity, params in (("nearest_neighbors", {"metric": "cosine"}), ("cosine", {"n_neighbors": 9})):
        model = SymNMF(2, affinity=affinity, affinity_params=params, random_state=0).fit(counts)
        assert adjusted_rand_score(truth, model.labels_) == 1


def test_copies_that_join_later_go_where_their_likes_are():
    X, truth = rounded_blobs()
    model = SymNMF(2, affinity="nearest_neighbors", random_state=0).fit(X[:400]).partial_fit(X[400:])
    assert adjusted_rand_score(truth, model.labels_) == 1
    assert has_one_label_each(X, model.labels_)
    assert model.affinity_matrix_.shape == (600, 600)


def test_copies_are_placed_scored_and_saved_like_others(tmp_path):
    X, truth = rounded_blobs()
    model = SymNMF(2, affinity="nearest_neighbors", random_state=0).fit(X)
    assert model.score(X) > 0.5
    assert adjusted_rand_score(truth, model.predict(X + 0.1)) == 1
    model.save(tmp_path / "model.symclust")
    loaded = symclust.load(tmp_path / "model.symclust")
    np.testing.assert_array_equal(loaded.predict(X + 0.1), model.predict(X + 0.1))
    np.testing.assert_array_equal(loaded.partial_fit(X[:9]).labels_, model.partial_fit(X[:9]).labels_)


def test_the_number_of_clusters_is_found_on_a_grid():
    X, _ = rounded_blobs()
    assert SymNMF("auto", affinity="nearest_neighbors", random_state=0).fit(X).selection_.n_clusters == 2
