"""A factor held by its nonzeros has the value, gradient and rounding of the dense one."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from symclust.constraints import Nonnegative
from symclust.objectives import Frobenius, OffDiagonal, factor_arrays, gram, is_sparse_factor, row_lengths
from symclust.operators import Sparse

KINDS = {
    "frobenius": Frobenius,
    "with an L1 term": lambda A: Frobenius(A, 0.3),
    "off_diagonal": OffDiagonal,
}
PROBLEMS = {"n": st.integers(1, 9), "k": st.integers(1, 4), "seed": st.integers(0, 2**16)}
every_kind = pytest.mark.parametrize("kind", KINDS)


def setting(n, k, seed, dtype=np.float64):
    """Return A with a diagonal and H, both with zeros, as arrays."""
    rng = np.random.default_rng(seed)
    A = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.4)
    H = 2 * rng.uniform(size=(n, k)) * (rng.uniform(size=(n, k)) < 0.6)
    return (A + A.T).astype(dtype), H.astype(dtype)


@every_kind
@settings(max_examples=25)
@given(**PROBLEMS)
def test_value_and_stationarity_are_those_of_the_dense_factor(kind, n, k, seed):
    A, H = setting(n, k, seed)
    objective = KINDS[kind](Sparse(sp.csr_array(A)))
    assert objective.needs_product(H)
    assert not objective.needs_product(sp.csr_array(H))
    found = objective.measure(sp.csr_array(H), None, Nonnegative())
    assert found == pytest.approx(objective.measure(H, A @ H, Nonnegative()), rel=1e-9, abs=1e-9)


@every_kind
@settings(max_examples=25)
@given(**PROBLEMS)
def test_one_pass_over_the_similarity_says_all(kind, n, k, seed):
    A, H = setting(n, k, seed)
    objective = KINDS[kind](Sparse(sp.csr_array(A)))
    gradient = objective.gradient(H, A @ H, H.T @ H)
    value, found = objective.measure_sparse(sp.csr_array(H))
    assert value == pytest.approx(objective.value(H, A @ H, H.T @ H), abs=1e-10)
    assert found.fit == pytest.approx(np.sum(H * (A @ H)), abs=1e-10)
    assert found.squared_product == pytest.approx(np.sum((A @ H) ** 2), abs=1e-10)
    held = np.where(H > 0, gradient, np.minimum(gradient, 0))
    assert found.squared_gradient == pytest.approx(np.sum(held**2), rel=1e-9, abs=1e-9)
    assert found.complementarity == pytest.approx(np.abs(H * gradient).max(), abs=1e-9)
    assert found.lowest == pytest.approx(min(gradient[H == 0].min(initial=0), 0), abs=1e-9)


@every_kind
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_that_of_the_dense_factor(kind, dtype):
    A, H = setting(12, 3, 0, dtype)
    objective = KINDS[kind](Sparse(sp.csr_array(A)))
    assert objective.rounding(sp.csr_array(H), None) == pytest.approx(objective.rounding(H, A @ H), rel=1e-5)


@every_kind
def test_sums_over_a_sparse_factor_need_no_second_look(kind):
    A, H = setting(12, 3, 0, np.float32)
    objective = KINDS[kind](Sparse(sp.csr_array(A)))
    assert objective.certify(sp.csr_array(H), 0.0) == 0.0


@settings(max_examples=25)
@given(**PROBLEMS)
def test_grams_and_lengths_do_not_depend_on_how_it_is_held(n, k, seed):
    _, H = setting(n, k, seed, np.float32)
    for form in (H, sp.csr_array(H)):
        assert is_sparse_factor(form) == (form is not H)
        assert gram(form).dtype == row_lengths(form).dtype == np.float64
        assert_allclose(gram(form), H.T.astype(float) @ H, rtol=1e-12)
        assert_allclose(row_lengths(form), np.square(H.astype(float)).sum(axis=1), rtol=1e-12)


def test_kernels_get_the_numbers_without_a_copy():
    H = sp.csr_array(np.eye(3))
    H.indptr, H.indices = H.indptr.astype(np.int64), H.indices.astype(np.int32)
    for given_array, array in zip((H.indptr, H.indices, H.data), factor_arrays(H), strict=True):
        assert array is given_array
    H.indptr, H.indices = H.indptr.astype(np.int32), H.indices.astype(np.int64)
    indptr, indices, _ = factor_arrays(H)
    assert (indptr.dtype, indices.dtype) == (np.int64, np.int32)
    assert_array_equal(indptr, [0, 1, 2, 3])
    assert_array_equal(indices, [0, 1, 2])
