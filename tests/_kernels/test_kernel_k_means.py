"""The iteration of kernel k-means against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from symclust import _kernels

DTYPES = (np.float32, np.float64)


def problem(n, k, runs, seed, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    K = (X @ X.T).astype(dtype)
    weights = rng.uniform(0.5, 2, n).astype(dtype)
    labels = rng.integers(0, k, (runs, n))
    return K, weights, labels


def sums_twin(K, weights, labels, k):
    """K diag(w) Z for each run, clusters first."""
    Z = np.eye(k)[labels]
    return np.stack([(weights[:, None] * z).T @ K.astype(float) for z in Z])


def move_twin(sums, weights, own, shift):
    """Distances less K_ii, by the formula, for one run."""
    k = len(sums)
    totals = np.array([weights[own == j].sum() for j in range(k)])
    within = np.array([(weights * sums[j])[own == j].sum() for j in range(k)])
    with np.errstate(divide="ignore", invalid="ignore"):
        lengths = np.where(totals > 0, within / totals**2 + shift / totals, 0)
        distance = lengths[:, None] - 2 * (sums + shift * (own == np.arange(k)[:, None])) / totals[:, None]
    return totals, lengths, np.where(totals[:, None] > 0, distance, np.inf)


@settings(max_examples=40)
@given(
    n=st.integers(1, 600), k=st.integers(1, 7), runs=st.integers(1, 4), seed=st.integers(0, 2**16),
    shift=st.sampled_from([0.0, 0.7]), dtype=st.sampled_from(DTYPES),
)  # fmt: skip
def test_samples_go_to_the_nearest_centre(n, k, runs, seed, shift, dtype):
    K, weights, labels = problem(n, k, runs, seed, dtype)
    sums = sums_twin(K, weights, labels, k).astype(dtype)
    moved, sizes = labels.copy(), np.zeros((runs, k), dtype=np.int64)
    totals, lengths = np.zeros((2, runs, k))
    active = np.arange(0, runs, 2)
    _kernels.kernel_k_means_move(sums, weights, active, shift, 1e-12, labels, moved, sizes, totals, lengths)
    for r in active:
        expected = move_twin(sums[r].astype(float), weights.astype(float), labels[r], shift)
        assert_allclose(totals[r], expected[0])
        assert_allclose(lengths[r], expected[1], rtol=1e-9, atol=1e-9)
        # By distance, not by label: which of two equally near centres is taken is left to rounding.
        reached = expected[2][moved[r], np.arange(n)]
        assert_allclose(reached, expected[2].min(axis=0), rtol=1e-9, atol=1e-9)
        assert_array_equal(sizes[r], np.bincount(moved[r], minlength=k))
    resting = np.setdiff1d(np.arange(runs), active)
    assert_array_equal(moved[resting], labels[resting])


def test_a_sample_stays_where_another_centre_is_only_as_near():
    sums = np.full((1, 2, 4), 2.0)  # all samples alike: all centres in one place
    labels = np.array([[0, 1, 1, 0]])
    moved, sizes = np.empty_like(labels), np.empty((1, 2), dtype=np.int64)
    totals, lengths = np.empty((2, 1, 2))
    _kernels.kernel_k_means_move(
        sums, np.ones(4), np.array([0]), 0.0, 1e-12, labels, moved, sizes, totals, lengths
    )
    assert_array_equal(moved, labels)


@settings(max_examples=30)
@given(
    n=st.integers(1, 600), k=st.integers(1, 7), runs=st.integers(1, 4), seed=st.integers(0, 2**16),
    dtype=st.sampled_from(DTYPES),
)  # fmt: skip
def test_sums_follow_the_samples_that_moved(n, k, runs, seed, dtype):
    K, weights, before = problem(n, k, runs, seed, dtype)
    after = np.where(np.random.default_rng(seed).uniform(size=before.shape) < 0.3, (before + 1) % k, before)
    sums = sums_twin(K, weights, before, k).astype(dtype)
    resting = sums[1::2].copy()
    _kernels.kernel_k_means_update(K, weights, np.arange(0, runs, 2), before, after, sums)
    tolerance = {np.float32: 1e-3, np.float64: 1e-10}[dtype]
    assert_allclose(sums[::2], sums_twin(K, weights, after, k)[::2], rtol=tolerance, atol=n * tolerance)
    assert_array_equal(sums[1::2], resting)


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_empty_cluster_attracts_nobody(dtype):
    K, weights, _ = problem(9, 3, 1, 0, dtype)
    labels = np.array([[0, 1, 0, 1, 0, 1, 0, 1, 0]])
    moved, sizes = np.empty_like(labels), np.empty((1, 3), dtype=np.int64)
    totals, lengths = np.empty((2, 1, 3))
    sums = sums_twin(K, weights, labels, 3).astype(dtype)
    _kernels.kernel_k_means_move(
        sums, weights, np.array([0]), 0.0, 1e-12, labels, moved, sizes, totals, lengths
    )
    assert sizes[0, 2] == 0 and np.isfinite(lengths).all()
