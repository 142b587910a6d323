import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.cluster import SpectralClustering

from symclust.datasets import planted_partition
from symclust.exceptions import InputError, OptionError
from symclust.metrics import clustering_accuracy


@settings(max_examples=40)
@given(st.integers(2, 60), st.integers(1, 6), st.floats(0, 1), st.integers(0, 100))
def test_is_a_simple_graph_with_balanced_clusters(n, k, mixing, seed):
    k = min(k, n)
    degree = 0.9 * min((n / k - 1) / max(1 - mixing, 1e-9), (n - n / k) / max(mixing, 1e-9))
    A, y = planted_partition(n, k, degree=degree, mixing=mixing, random_state=seed)
    assert isinstance(A, csr_array)
    assert A.shape == (n, n)
    assert abs(A - A.T).sum() == 0
    assert A.diagonal().sum() == 0
    assert set(A.data) <= {1.0}
    assert np.ptp(np.bincount(y, minlength=k)) <= 1


def test_degree_and_mixing_come_out_as_asked():
    A, y = planted_partition(n_samples=5000, n_clusters=7, degree=30, mixing=0.3, random_state=0)
    i, j = A.nonzero()
    assert A.nnz / 5000 == pytest.approx(30, rel=0.02)
    assert np.mean(y[i] != y[j]) == pytest.approx(0.3, abs=0.01)


def test_scikit_learn_takes_the_graph():
    """Its solver accepts 32-bit indices alone."""
    A, y = planted_partition(n_samples=60, n_clusters=2, degree=10, mixing=0.02, random_state=0)
    model = SpectralClustering(2, affinity="precomputed", eigen_solver="arpack", random_state=0)
    assert clustering_accuracy(y, model.fit_predict(A)) == 1


def test_full_probability_joins_every_pair():
    A, y = planted_partition(n_samples=30, n_clusters=3, degree=9, mixing=0.0, random_state=0)
    assert np.array_equal(A.toarray(), (y[:, None] == y) - np.eye(30))


def test_every_pair_is_equally_likely():
    """The numbering of pairs misses none: with one cluster each pair must turn up about as often."""
    counts = sum(
        planted_partition(6, 1, degree=2.5, mixing=0.0, random_state=seed)[0].toarray()
        for seed in range(2000)
    )
    frequencies = counts[np.triu_indices(6, 1)] / 2000
    assert np.abs(frequencies - 0.5).max() < 0.05  # more than four deviations of 0.011


def test_memory_follows_edges_not_pairs():
    tracemalloc.start()
    A, _ = planted_partition(n_samples=100_000, n_clusters=10, degree=4, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * A.nnz  # bytes; one bit for each pair would be 625 MB


def test_seed_repeats():
    (A, y), (A2, y2) = (planted_partition(random_state=5) for _ in range(2))
    assert (A != A2).nnz == 0
    assert np.array_equal(y, y2)


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ({"n_samples": "1000"}, OptionError, "n_samples='1000' must be a whole number"),
        ({"n_clusters": 0}, OptionError, "n_clusters=0"),
        ({"n_clusters": 1001}, OptionError, "n_clusters=1001 is not possible with n_samples=1000"),
        ({"mixing": 1.5}, OptionError, "mixing=1.5"),
        ({"degree": -1}, OptionError, "degree=-1"),
        ({"degree": 200}, InputError, "means 160 neighbours inside"),
        ({"n_clusters": 1, "mixing": 0.5}, InputError, "10 outside, where there are 0"),
    ],
)
def test_refuses_impossible_numbers(wrong, kind, message):
    with pytest.raises(kind, match=message):
        planted_partition(**wrong)
