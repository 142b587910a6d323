"""The iterations of spherical k-means: centres in parts, two opposite samples, memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from symclust import SphericalKMeans
from symclust.graphs import unit_rows
from symclust.k_means import SphericalRuns, opposite_samples, spherical


def sparse_samples(n=300, d=2000, per_row=8, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=per_row / d, rng=rng, format="csr", dtype=dtype)
    X.data -= dtype(0.3)
    return X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("most", [500, 8_000, 24_000])  # some centres of a start, all of one, of two starts
def test_centres_in_parts_give_the_same_bits(monkeypatch, most, dtype):
    X = sparse_samples(dtype=dtype)
    whole = SphericalKMeans(9, n_init=4, random_state=0).fit(X)
    cosines = whole.transform(X[:40])
    monkeypatch.setattr(spherical, "ENTRIES", most)
    parts = SphericalKMeans(9, n_init=4, random_state=0).fit(X)
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
    np.testing.assert_array_equal(parts.inits_, whole.inits_)
    np.testing.assert_array_equal(parts.components_, whole.components_)
    np.testing.assert_array_equal(parts.transform(X[:40]), cosines)
    np.testing.assert_array_equal(parts.predict(X[:40].toarray()), whole.predict(X[:40]))
    assert parts.components_.dtype == dtype


@pytest.mark.parametrize(
    "n", [400, 1500]
)  # with fewer features than fit into an array at once, and with more
def test_memory_is_that_of_a_few_arrays_of_bounded_size(monkeypatch, n):
    monkeypatch.setattr(spherical, "ENTRIES", 2**18)
    X = sparse_samples(n, d=200_000)
    tracemalloc.start()
    try:
        SphericalKMeans(60, n_init=2, max_iter=3, random_state=0).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    fixed = 8 * 2**18 + 16 * n * 60  # such an array; cosines and memberships with all centres
    assert peak < 6 * fixed < 8 * 60 * 200_000  # the dense centres of a single start


def test_opposite_samples_are_far_apart():
    X = unit_rows(sparse_samples())
    first, second = opposite_samples(SphericalRuns(X, 2), np.random.RandomState(3))
    cosines = (X @ X[[first]].T).toarray()
    assert second == cosines.argmin()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_samples_of_one_direction_have_no_opposites(form):
    X = unit_rows(form(np.outer(np.arange(1.0, 6), [0.3, 0.2, 0.1])))
    assert opposite_samples(SphericalRuns(X, 2), np.random.RandomState(0)) is None


@given(st.integers(0, 1000))
def test_a_run_from_clusters_never_gets_worse(seed):
    rng = np.random.RandomState(seed)
    X = rng.rand(20, 4) * (rng.rand(20, 4) < 0.7) + 1e-3
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    labels = rng.permutation(np.arange(20) % 3)
    run = SphericalRuns(X, 3).descend(labels, 50)
    lengths = [np.linalg.norm(X[labels == topic].sum(axis=0)) for topic in range(3)]
    assert run.objectives[0] == pytest.approx(20 - sum(lengths))
    assert (np.diff(run.objectives) <= 1e-12).all() and run.done
    assert set(run.labels) == {0, 1, 2}
    np.testing.assert_array_equal((X @ run.centers).argmax(axis=1), run.labels)


class NeverEmpty(SphericalRuns):
    def _without_empty(self, labels, cosines):
        assume(
            len(np.unique(labels)) == self.k
        )  # such a cluster gets one sample, with all or one of its copies
        return super()._without_empty(labels, cosines)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@given(st.integers(0, 1000))
def test_a_weight_counts_like_copies(form, seed):
    rng = np.random.RandomState(seed)
    X, weights, labels = rng.rand(15, 4), rng.randint(1, 5, 15), rng.permutation(np.arange(15) % 3)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    one = NeverEmpty(form(X), 3, weights=weights.astype(float)).descend(labels, 50)
    copies = SphericalRuns(form(np.repeat(X, weights, axis=0)), 3).descend(np.repeat(labels, weights), 50)
    np.testing.assert_array_equal(np.repeat(one.labels, weights), copies.labels)
    np.testing.assert_allclose(one.objectives, copies.objectives, atol=1e-12)
