"""Cyclic coordinate descent against a plain NumPy version that works on the whole matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from symclust import _kernels

NO_PAIRS = np.empty(0, dtype=np.int64)
DTYPES = (np.float32, np.float64)
TOLERANCE = {np.float32: 2e-4, np.float64: 1e-9}


def minimiser(a, b, full, x, flat):
    if not full:
        return max(0.0, -b / a) if a > flat else x
    roots = np.roots([1.0, 0.0, a, b])
    x = np.append(roots.real[np.abs(roots.imag) <= 1e-8 * np.abs(roots)], 0.0)
    x = x[x >= 0]
    return x[np.argmin(x**4 / 4 + a * x**2 / 2 + b * x)]


def errors(A, H, full, mask):
    """HHᵀ − A where it counts; `mask` is nonzero where it does not."""
    E = H @ H.T - A
    if not full:
        np.fill_diagonal(E, 0)
    return E if mask is None else E * (mask == 0)


def gradient(A, H, full, offset, mask=None):
    E = errors(A, H, full, mask)
    return 4 * (E @ H + offset * H.sum(axis=1, keepdims=True))


def objective(A, H, full, offset, mask=None):
    E = errors(A, H, full, mask)
    return np.sum(E**2) + 2 * offset * np.sum(H.sum(axis=1) ** 2)


def coordinate_twin(A, H, full, offset, mask=None, order=None, columns=None):
    """Column after column, entry after entry; everything recomputed from H. Return H, squared gradient."""
    A, H, dtype, squared = A.astype(float), H.astype(float), H.dtype, 0.0
    for l in range(H.shape[1]) if columns is None else columns:
        flat = 1e-14 * ((H * H).sum(axis=0) + offset).max()  # what is left of an empty column is rounding
        for i in range(len(H)) if order is None else order:
            slope = gradient(A, H, full, offset, mask)[i, l]
            squared += (slope if H[i, l] > 0 else min(slope, 0)) ** 2
            others, x = np.delete(H[i], l), H[i, l]
            seen = H[:, l] if mask is None else H[:, l] * (mask[i] == 0)
            column = seen @ seen - x * x
            a = column + offset + (others @ others - A[i, i] if full else 0.0)
            b = slope / 4 - a * x - (x**3 if full else 0.0)
            H[i, l] = dtype.type(minimiser(a, b, full, x, flat))
    return H, squared


def as_pairs(mask):
    if mask is None:
        return NO_PAIRS, NO_PAIRS
    pattern = sp.csr_array(mask)
    return pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64)


def descend(A, H, full=True, offset=0.0, index=np.int32, block=None, mask=None, order=None, columns=None):
    """Run the kernel over all columns of a copy, or some: sparse, or in blocks of rows."""
    ids = np.arange(len(H)) if order is None else order
    H, G, change = H.copy(), _kernels.gram(H)[0] + offset, np.zeros(2)
    csr, diagonal = sp.csr_array(A), A.diagonal().copy()
    for l in range(H.shape[1]) if columns is None else columns:
        x = H[:, l].copy()
        if block is None:
            _kernels.coordinate_sparse(
                csr.indptr.astype(index), csr.indices.astype(index), csr.data, diagonal, H, x, G, l, full,
                ids, *as_pairs(mask), change,
            )  # fmt: skip
        else:
            for first in range(0, len(ids), block):
                part = ids[first : first + block]
                places = np.arange(len(part))[::-1].copy()  # rows may be stored in any order
                _kernels.coordinate_rows(
                    A[part[::-1]], places, diagonal, H, x, G, l, full, part, *as_pairs(mask), change
                )
        assert_allclose(x, H[:, l])
    return H, G, change


def problem(n, k, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.5))
    H = rng.uniform(size=(n, k)) * (rng.uniform(size=(n, k)) < 0.8)
    return np.maximum(A, A.T).astype(dtype), H.astype(dtype)


def check(A, H0, full, offset, dtype, **options):
    H, G, change = descend(A, H0, full, offset, **options)
    mask, order = options.get("mask"), options.get("order")
    expected, squared = coordinate_twin(A, H0, full, offset, mask, order)
    assert H.dtype == dtype
    assert_allclose(H, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    assert_allclose(G, H.astype(float).T @ H.astype(float) + offset, rtol=1e-9)
    before, after = (objective(A.astype(float), X.astype(float), full, offset, mask) for X in (H0, H))
    assert_allclose(change[0], before - after, rtol=10 * TOLERANCE[dtype], atol=TOLERANCE[dtype])
    assert_allclose(change[1], squared, rtol=10 * TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("options", [{"index": np.int32}, {"index": np.int64}, {"block": 25}, {"block": 7}])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("full", "offset"), [(True, 0.0), (True, 0.6), (False, 0.0), (False, 0.6)])
def test_a_sweep_equals_its_twin(full, offset, dtype, options):
    check(*problem(25, 3, dtype), full, offset, dtype, **options)


def masked(A, density=0.25, seed=3):
    """Return a symmetric mask without diagonal, and A with zeros there."""
    mask = np.triu(np.random.default_rng(seed).uniform(size=A.shape) < density, 1)
    mask = (mask | mask.T).astype(float)
    return np.where(mask, 0, A).astype(A.dtype), mask


@pytest.mark.parametrize("options", [{"index": np.int32}, {"index": np.int64}, {"block": 25}, {"block": 7}])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("full", "offset"), [(True, 0.0), (False, 0.0), (False, 0.6)])
def test_a_sweep_without_some_pairs_equals_its_twin(full, offset, dtype, options):
    A, H0 = problem(25, 3, dtype)
    A, mask = masked(A)
    check(A, H0, full, offset, dtype, mask=mask, **options)
    assert np.any(descend(A, H0, full, offset, mask=mask)[0] != descend(A, H0, full, offset)[0])


@pytest.mark.parametrize("options", [{}, {"block": 25}, {"block": 7}])
@pytest.mark.parametrize("full", [True, False])
def test_entries_are_visited_in_any_order(full, options):
    A, H0 = problem(25, 3)
    A, mask = masked(A)
    order = np.random.default_rng(0).permutation(25)
    check(A, H0, full, 0.0, np.float64, mask=mask, order=order, **options)


@settings(max_examples=30)
@given(
    n=st.integers(1, 8), k=st.integers(1, 4), seed=st.integers(0, 2**16), full=st.booleans(),
    block=st.sampled_from([None, 3]),
)  # fmt: skip
def test_small_problems(n, k, seed, full, block):
    # Where a problem is flat its minimiser is known only to the cube root of the rounding, and the next one
    # depends on it: only values can be compared, and only after one entry from the same point.
    A, H = problem(n, k, seed=seed)
    for l, i in np.ndindex(k, n):
        one = {"order": np.array([i]), "columns": [l]}
        before, expected = H, coordinate_twin(A, H, full, 0.0, **one)[0]
        H, _, change = descend(A, before, full, block=block, **one)
        values = [objective(A, X, full, 0.0) for X in (before, H, expected)]
        assert H.min() >= 0
        assert values[1] == pytest.approx(values[2], abs=1e-10 * (1 + values[0]))
        assert change[0] == pytest.approx(values[0] - values[1], abs=1e-10 * (1 + values[0]))


def test_repeated_sweeps_become_stationary():
    groups = np.repeat(np.arange(2), 10)
    A, H = problem(20, 2)
    A = 0.2 * A + 0.8 * (groups[:, None] == groups)
    first = descend(A, H)[2][1]
    for _ in range(200):
        H, _, change = descend(A, H)
    assert np.sqrt(change[1] / first) < 1e-5
