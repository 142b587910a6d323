"""Data without clusters: what is kept of the given data, and what is not."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from symclust.datasets import planted_partition
from symclust.exceptions import InputError
from symclust.selection._nulls import shuffled_pairs


def network(n, share, seed, weighted=False):
    rng = np.random.RandomState(seed)
    upper = np.triu(rng.rand(n, n) < share, 1) * (rng.gamma(2, size=(n, n)) if weighted else 1.0)
    return sparse.csr_array(upper + upper.T)


def blocks(n, seed):
    """Similarities of all pairs with two clusters and unequal degrees."""
    rng = np.random.RandomState(seed)
    size, cluster = rng.uniform(0.5, 2, n), np.arange(n) < n // 2
    A = np.outer(size, size) * np.where(cluster[:, None] == cluster, 1.0, 0.2) * rng.uniform(0.8, 1.2, (n, n))
    return (A + A.T) / 2


def inside(A, y):
    return sum(float(A[y == c][:, y == c].sum()) for c in np.unique(y)) / float(A.sum())


@settings(deadline=None, max_examples=60)
@given(n=st.integers(1, 40), share=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_rewiring_keeps_every_degree_and_stays_simple(n, share, seed):
    A = network(n, share, seed)
    Z = shuffled_pairs(A, np.random.RandomState(seed))
    assert np.array_equal(Z.sum(axis=1), A.sum(axis=1))
    assert not Z.diagonal().any()
    assert (Z != Z.T).nnz == 0
    assert set(np.unique(Z.data)) <= {1.0}


@settings(deadline=None, max_examples=60)
@given(n=st.integers(2, 40), share=st.floats(0, 0.4), seed=st.integers(0, 10**6))
def test_weighted_networks_keep_edges_signs_and_symmetry(n, share, seed):
    A = network(n, share, seed, weighted=True)
    assume(A.nnz <= 0.5 * n * (n - 1))  # with more pairs they are similarities, whose zeros are shuffled, too
    Z = shuffled_pairs(A, np.random.RandomState(seed))
    assert np.array_equal(np.diff(Z.indptr), np.diff(A.indptr))
    assert (Z != Z.T).nnz == 0
    assert Z.nnz == 0 or Z.data.min() > 0
    assert np.isfinite(Z.data).all()


def test_weights_come_close_to_the_degrees():
    A = network(200, 0.1, 0, weighted=True)
    Z = shuffled_pairs(A, np.random.RandomState(0))
    assert np.abs(Z.sum(axis=1) / A.sum(axis=1) - 1).max() < 1e-6


@settings(deadline=None, max_examples=30)
@given(n=st.integers(8, 40), seed=st.integers(0, 10**6))
def test_similarities_of_all_pairs_keep_degrees_and_diagonal(n, seed):
    A = blocks(n, seed)
    Z = shuffled_pairs(A, np.random.RandomState(seed))
    assert np.allclose(Z.sum(axis=1), A.sum(axis=1), rtol=1e-2)
    assert np.array_equal(Z.diagonal(), A.diagonal())
    assert np.array_equal(Z, Z.T)
    assert Z.min() >= 0


def test_clusters_are_gone():
    A, y = planted_partition(400, 4, degree=12, mixing=0.1, random_state=0)
    assert inside(A, y) > 0.85
    assert abs(inside(shuffled_pairs(A, np.random.RandomState(0)), y) - 0.25) < 0.04
    K, y = blocks(60, 0), np.arange(60) < 30
    expected = sum((K[y == c].sum() / K.sum()) ** 2 for c in (False, True))
    assert abs(inside(shuffled_pairs(K, np.random.RandomState(0)), y) - expected) < 0.04
    assert inside(K, y) > expected + 0.2


def test_the_form_is_that_of_what_was_given():
    A = network(30, 0.2, 0)
    Z = shuffled_pairs(A, np.random.RandomState(1))
    dense = shuffled_pairs(A.toarray(), np.random.RandomState(1))
    assert isinstance(dense, np.ndarray)
    assert np.array_equal(dense, Z.toarray())
    full = sparse.csr_array(blocks(12, 0).astype(np.float32))
    found = shuffled_pairs(full, np.random.RandomState(1))
    assert sparse.issparse(found)
    assert found.dtype == np.float32


def test_loops_and_lonely_nodes_stay():
    A = network(30, 0.2, 0).tolil()
    A[3, 3] = 2.0
    A[7] = 0
    A[:, 7] = 0
    A = sparse.csr_array(A)
    Z = shuffled_pairs(A, np.random.RandomState(0))
    assert Z.diagonal()[3] == 2
    assert Z.diagonal().sum() == 2
    assert Z[[7]].nnz == 0
    K = blocks(10, 0)
    K[4] = K[:, 4] = 0
    assert not shuffled_pairs(K, np.random.RandomState(0))[4].any()


def test_the_same_chance_gives_the_same_null_and_another_another():
    A = network(50, 0.2, 0)
    first, same, other = (shuffled_pairs(A, np.random.RandomState(seed)) for seed in (0, 0, 1))
    assert (first != same).nnz == 0
    assert (first != other).nnz > 0


def test_what_was_given_does_not_change():
    for A in (network(20, 0.2, 0, weighted=True).toarray(), blocks(10, 0)):
        before = A.copy()
        shuffled_pairs(A, np.random.RandomState(0))
        assert np.array_equal(A, before)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_negative_similarities_are_refused(form):
    with pytest.raises(InputError, match="negative entries, down to -1"):
        shuffled_pairs(form([[0.0, -1.0], [-1.0, 0.0]]), np.random.RandomState(0))
