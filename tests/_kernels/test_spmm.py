"""The sparse product against SciPy's dense arithmetic."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from symclust import _kernels

DTYPES = (np.float32, np.float64)
INDICES = (np.int32, np.int64)
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-13}


def spmm_twin(A, H):
    """Row after row, nonzero after nonzero."""
    out = np.zeros((A.shape[0], H.shape[1]))
    for i in range(A.shape[0]):
        for p in range(A.indptr[i], A.indptr[i + 1]):
            out[i] += float(A.data[p]) * H[A.indices[p]].astype(float)
    return out


def multiply(A, H, index=np.int32):
    out = np.full((A.shape[0], H.shape[1]), np.nan, dtype=H.dtype)  # every entry must be written
    _kernels.spmm(A.indptr.astype(index), A.indices.astype(index), A.data, H, out)
    return out


def random_csr(n, m, density, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, m)) * (rng.uniform(size=(n, m)) < density)
    return sp.csr_array(values.astype(dtype))


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_width_up_to_two_panels_and_a_tail(dtype, index):
    A = random_csr(23, 19, 0.3, dtype)
    for k in range(1, 71):
        H = np.random.default_rng(k).normal(size=(19, k)).astype(dtype)
        assert_allclose(multiply(A, H, index), spmm_twin(A, H), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@settings(max_examples=40)
@given(
    n=st.integers(1, 40), k=st.integers(1, 12), density=st.floats(0, 1), seed=st.integers(0, 2**16),
    dtype=st.sampled_from(DTYPES), index=st.sampled_from(INDICES),
)  # fmt: skip
def test_any_pattern(n, k, density, seed, dtype, index):
    A = random_csr(n, n, density, dtype, seed)
    H = np.random.default_rng(seed + 1).normal(size=(n, k)).astype(dtype)
    assert_allclose(multiply(A, H, index), spmm_twin(A, H), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * n)


@pytest.mark.parametrize("dtype", DTYPES)
def test_empty_rows_give_zeros(dtype):
    A = sp.csr_array((np.ones(2, dtype), [1, 3], [0, 0, 2, 2, 2]), shape=(4, 4))
    H = np.arange(12, dtype=dtype).reshape(4, 3)
    expected = np.zeros((4, 3))
    expected[1] = H[1] + H[3]
    assert_array_equal(multiply(A, H), expected)


@pytest.mark.parametrize("k", [1, 33, 65])
def test_a_matrix_without_nonzeros(k):
    assert_array_equal(multiply(sp.csr_array((5, 5)), np.ones((5, k))), np.zeros((5, k)))


def test_no_columns_at_all():
    assert multiply(random_csr(5, 5, 0.5, np.float64), np.ones((5, 0))).shape == (5, 0)


def test_no_rows_at_all():
    assert multiply(sp.csr_array((0, 3)), np.ones((3, 2))).shape == (0, 2)


def test_one_row():
    A = sp.csr_array(np.array([[2.0, 0.0, -1.0]]))
    assert_array_equal(multiply(A, np.array([[1.0], [9.0], [3.0]])), [[-1.0]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_large_enough_for_threads_and_with_one_crowded_row(dtype):
    # A hub that is linked to everyone takes a third of the nonzeros: borders must still fall on rows.
    n, k = 3000, 17
    A = sp.random_array((n, n), density=0.001, rng=np.random.default_rng(0)).tolil()
    A[7] = np.random.default_rng(1).uniform(size=n)
    A = sp.csr_array(A).astype(dtype)
    H = np.random.default_rng(2).normal(size=(n, k)).astype(dtype)
    expected = A.astype(float) @ H.astype(float)
    assert_allclose(multiply(A, H), expected, rtol=TOLERANCE[dtype], atol=100 * TOLERANCE[dtype])


def test_indices_of_two_widths_are_refused_rather_than_converted():
    A = random_csr(4, 4, 0.5, np.float64)
    with pytest.raises(TypeError):
        _kernels.spmm(
            A.indptr.astype(np.int32), A.indices.astype(np.int64), A.data, np.ones((4, 1)), np.ones((4, 1))
        )


def test_precisions_are_not_mixed():
    A = random_csr(4, 4, 0.5, np.float64)
    with pytest.raises(TypeError):
        _kernels.spmm(
            A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data, np.ones((4, 1), np.float32),
            np.ones((4, 1), np.float32),
        )  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("far", [False, True])
def test_rows_by_themselves_have_the_bits_of_the_whole(dtype, far):
    # How lines are asked for, and whether H is copied first, depends on where entries lie: bits must not.
    rng = np.random.default_rng(0)
    n = 70_000
    rows = np.sort(rng.integers(0, n, 12 * n))
    columns = rng.integers(0, n, 12 * n) if far else np.clip(rows + rng.integers(-9, 10, 12 * n), 0, n - 1)
    A = sp.csr_array((rng.random(12 * n).astype(dtype), (rows, columns)), shape=(n, n))
    for k in (1, 2, 3, 4, 5, 7, 8, 16, 33):
        H = rng.random(n * k + 1).astype(dtype)[1:].reshape(n, k)  # its rows cross lines of the cache
        whole = multiply(A, H, np.int32)
        for first in (0, 123, n - 50):
            part = np.empty((50, k), dtype=dtype)
            begin, end = A.indptr[first], A.indptr[first + 50]
            indptr = (A.indptr[first : first + 51] - begin).astype(np.int32)
            _kernels.spmm(indptr, A.indices[begin:end].astype(np.int32), A.data[begin:end], H, part)
            assert_array_equal(part, whole[first : first + 50])
