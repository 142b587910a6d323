"""The phase that moves samples one by one, against sums of squares computed from scratch."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from symclust.k_means import both_phases, online_phase


def sum_of_squares(X, labels):
    return sum(((X[labels == l] - X[labels == l].mean(axis=0)) ** 2).sum() for l in np.unique(labels))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_ends_where_no_single_move_lowers_the_objective(seed, make):
    rng = np.random.default_rng(seed)
    X = rng.random((60, 8)) * (rng.random((60, 8)) < 0.5)
    batch = KMeans(5, init="random", n_init=1, random_state=seed).fit(X)
    labels = online_phase(make(X), batch.labels_)
    least = sum_of_squares(X, labels)
    assert least <= batch.inertia_ * (1 + 1e-12)
    for i in range(60):
        for l in range(5):
            moved = labels.copy()
            moved[i] = l
            if len(np.unique(moved)) == 5:
                assert sum_of_squares(X, moved) >= least - 1e-7


def test_lowers_what_the_batch_phase_leaves():
    rng = np.random.default_rng(0)
    gains = []
    for seed in range(10):
        X = rng.random((80, 10))
        batch = KMeans(8, init="random", n_init=1, random_state=seed).fit(X)
        gains.append(1 - sum_of_squares(X, online_phase(X, batch.labels_)) / batch.inertia_)
    assert np.mean(gains) > 0.005


def test_a_cluster_keeps_its_last_sample_and_labels_given_stay():
    X, labels = np.array([[0.0], [0.1], [5.0]]), np.array([0, 0, 1])
    assert online_phase(X, labels).tolist() == [0, 0, 1]
    start = np.array([0, 1, 1])
    assert online_phase(X, start).tolist() == [0, 0, 1]
    assert start.tolist() == [0, 1, 1]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_both_phases_give_labels_and_their_objective(make):
    X = np.random.default_rng(0).random((50, 6))
    model = both_phases(make(X), 4, 0, init="random")
    batch = KMeans(4, init="random", n_init=1, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, online_phase(X, batch.labels_))
    assert model.inertia_ == pytest.approx(sum_of_squares(X, model.labels_))


def test_an_empty_cluster_is_filled():
    X = np.array([[0.0], [1.0], [5.0]])
    assert sorted(np.bincount(online_phase(X, np.array([0, 0, 2]))).tolist()) == [1, 1, 1]
