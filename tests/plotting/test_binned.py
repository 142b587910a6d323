import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array

from symclust.datasets import planted_partition
from symclust.exceptions import InputError, OptionError
from symclust.plotting.plot_similarity import binned_similarity


class Products:
    """An operator in the smallest sense: a shape and a product with dense columns."""

    def __init__(self, A):
        self._A, self.shape = A, A.shape

    def __matmul__(self, H):
        assert isinstance(H, np.ndarray)
        return self._A @ H


def tile_means(A, order, bins):
    """The same by cutting the reordered dense matrix with loops."""
    n = len(A)
    A = A[np.ix_(order, order)]
    bin_of = np.arange(n) * bins // n
    return np.array([[A[np.ix_(bin_of == a, bin_of == b)].mean() for b in range(bins)] for a in range(bins)])


@settings(max_examples=30)
@given(st.integers(1, 50), st.integers(1, 60), st.integers(0, 100))
@pytest.mark.parametrize("form", [np.asarray, csr_array, csc_array, coo_array, Products])
def test_equals_means_of_tiles(form, n, max_size, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.4)
    A, order = A + A.T, rng.permutation(n)
    tiles = binned_similarity(form(A), order, max_size)
    assert np.allclose(tiles, tile_means(A, order, min(n, max_size)))


def test_large_sparse_matrix_stays_sparse():
    A, _ = planted_partition(n_samples=50_000, degree=4, random_state=0)
    tracemalloc.start()
    binned_similarity(A, np.arange(50_000), 200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6  # an n × n array of bytes would be 2.5 GB


def test_refuses_mismatched_sizes():
    with pytest.raises(InputError, match=r"\(3, 3\) and there are 2 labels"):
        binned_similarity(np.eye(3), np.arange(2), 10)
    with pytest.raises(InputError, match=r"\(3, 2\)"):
        binned_similarity(np.ones((3, 2)), np.arange(3), 10)
    for wrong in (0, 1.5, "300"):
        with pytest.raises(OptionError, match=f"max_size={wrong!r} must be a whole number"):
            binned_similarity(np.eye(3), np.arange(3), wrong)
