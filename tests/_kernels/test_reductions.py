"""Sums over rows against NumPy in double precision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from symclust import _kernels

DTYPES = (np.float32, np.float64)


def gram_twin(X, n_starts):
    """XᵀX of each block of columns."""
    return np.stack([part.T @ part for part in np.split(X.astype(float), n_starts, axis=1)])


@settings(max_examples=40)
@given(
    n=st.integers(0, 50), k=st.integers(1, 9), n_starts=st.integers(1, 4), seed=st.integers(0, 2**16),
    dtype=st.sampled_from(DTYPES),
)  # fmt: skip
def test_gram_of_starts_side_by_side(n, k, n_starts, seed, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k * n_starts)).astype(dtype)
    X[rng.uniform(size=X.shape) < 0.4] = 0  # zeros take a path of their own
    assert_allclose(_kernels.gram(X, n_starts), gram_twin(X, n_starts), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [4095, 4096, 4097, 9000, 64 * 4096 + 5])
def test_gram_across_the_borders_of_chunks(n, dtype):
    X = np.random.default_rng(n).uniform(size=(n, 3)).astype(dtype)
    assert_allclose(_kernels.gram(X), gram_twin(X, 1), rtol=1e-12)


def test_gram_is_exactly_symmetric():
    G = _kernels.gram(np.random.default_rng(0).uniform(size=(5000, 6)))[0]
    assert_array_equal(G, G.T)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 3, 2**15, 2**15 + 1, 2**17 + 3])
def test_inner_is_summed_in_double_precision(size, dtype):
    rng = np.random.default_rng(size)
    x, y = rng.uniform(size=(2, size)).astype(dtype)
    expected = float(x.astype(float) @ y.astype(float))
    assert _kernels.inner(x, y) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_norms_of_large_entries_do_not_overflow(dtype, order):
    X = np.asarray(np.random.default_rng(0).normal(size=(300, 7)), dtype=dtype, order=order)
    for size in (1e-20, 1.0, 1e25):
        expected = np.linalg.norm((dtype(size) * X).astype(np.float64))
        assert _kernels.norm(dtype(size) * X) == pytest.approx(expected, rel=1e-6)


def row_keys_twin(X, coefficients):
    """Σ_j c_j m(x_j) modulo 2⁶⁴, in whole numbers of any size."""
    found = []
    for row in X:
        bits = [int(b) for b in (row + row.dtype.type(0)).view(f"u{row.itemsize}")]
        mixed = [(b ^ (b >> 32)) * 0xBF58476D1CE4E5B9 % 2**64 for b in bits]
        mixed = [m ^ (m >> 32) for m in mixed]
        found.append([sum(int(c) * m for c, m in zip(cs, mixed, strict=True)) % 2**64 for cs in coefficients])
    return np.array(found, dtype=np.uint64).reshape(len(X), 2)


@settings(max_examples=30)
@given(
    n=st.integers(0, 9),
    d=st.integers(0, 40),
    seed=st.integers(0, 2**16),
    dtype=st.sampled_from(DTYPES),
)
def test_row_keys_equal_their_twin(n, d, seed, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    X[rng.uniform(size=X.shape) < 0.3] = rng.choice([0.0, -0.0])
    coefficients = rng.integers(0, 2**63, size=(2, d), dtype=np.uint64)
    keys = np.empty((n, 2), dtype=np.uint64)
    _kernels.row_keys(X, coefficients, keys)
    assert_array_equal(keys, row_keys_twin(X, coefficients))
