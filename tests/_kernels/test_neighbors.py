"""Nearest rows from blocks of products, against a plain sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from symclust import _kernels


def keep_nearest_twin(products, rows, columns, first_row, first_column, halves, numbers, both):
    """Pair by pair, in the order of the kernel, into lists that stay sorted; a tie does not displace."""
    row_lists, column_lists = halves
    for i, j in np.ndindex(products.shape):
        half = rows[i] + columns[j] - products[i, j]
        ends = [(row_lists, numbers[0], i, first_column + j)]
        if both:
            ends.append((column_lists, numbers[1], j, first_row + i))
        for lists, names, own, name in ends:
            if half < lists[own, -1]:
                place = np.searchsorted(lists[own], half, side="right")
                lists[own] = np.insert(lists[own], place, half)[:-1]
                names[own] = np.insert(names[own], place, name)[:-1]


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(1, 9),
    n=st.integers(1, 150),
    size=st.integers(1, 6),
    values=st.integers(2, 30),
    both=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_lists_equal_their_twin(seed, m, n, size, values, both, dtype):
    rng = np.random.default_rng(seed)
    products = rng.integers(-values, values, (m, n)).astype(dtype)  # with ties
    rows, columns = (rng.integers(0, values, count).astype(dtype) for count in (m, n))
    lists = [np.full((count, size), np.inf, dtype) for count in (m, n if both else 0)]
    lists[0][:, 0] = -values
    names = [np.full(part.shape, -1, np.int64) for part in lists]
    expected = [part.copy() for part in lists], [part.copy() for part in names]
    keep_nearest_twin(products, rows, columns, 100, 7, *expected, both)
    _kernels.keep_nearest(products, rows, columns, 100, 7, lists[0], names[0], lists[1], names[1])
    for found, twins in zip((lists, names), expected, strict=True):
        for part, twin in zip(found, twins, strict=True):
            np.testing.assert_array_equal(part, twin)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_are_compared_in_double_precision(dtype):
    rng = np.random.default_rng(0)
    Q, X = rng.normal(size=(5, 37)).astype(dtype), rng.normal(size=(8, 37)).astype(dtype)
    rows, columns = rng.integers(0, 5, 20), rng.integers(0, 8, 20)
    left, right = Q[rows].astype(float), X[columns].astype(float)
    out = np.empty(20)
    _kernels.compare_pairs(Q, X, rows, columns, True, out)
    np.testing.assert_allclose(out, np.linalg.norm(left - right, axis=1), rtol=1e-15)
    _kernels.compare_pairs(Q, X, rows, columns, False, out)
    np.testing.assert_allclose(out, (left * right).sum(axis=1), rtol=1e-12, atol=1e-14)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(1, 9),
    n=st.integers(1, 150),
    size=st.integers(1, 6),
    stride=st.booleans(),
)
def test_sparse_rows_meet_all_columns(seed, m, n, size, stride):
    rng = np.random.default_rng(seed)
    Q, X = (
        sparse.csr_array(rng.integers(0, 4, (rows, 12)) * (rng.random((rows, 12)) < 0.3) * 1.0)
        for rows in (m, n)
    )
    halves = rng.integers(0, 9, (m if stride else 1, n)).astype(float)
    found, numbers = np.full((m, size), np.inf), np.zeros((m, size), dtype=np.int64)
    parts = [
        part.astype(np.int64) if part.dtype.kind == "i" else part
        for A in (Q, X.T.tocsr())
        for part in (A.indptr, A.indices, A.data)
    ]
    _kernels.nearest_sparse(*parts, halves, found, numbers)
    scores = halves - (Q @ X.T).toarray()
    order = np.argsort(scores, axis=1, kind="stable")[:, :size]  # of equal ones the first
    kept = order.shape[1]
    np.testing.assert_array_equal(numbers[:, :kept], order)
    np.testing.assert_array_equal(found[:, :kept], np.take_along_axis(scores, order, axis=1))
    assert np.isinf(found[:, kept:]).all()
