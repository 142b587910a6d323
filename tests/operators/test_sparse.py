"""What `Sparse` makes of every kind of sparse matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from symclust.exceptions import InputError, InputTypeError
from symclust.operators import Sparse
from symclust.operators import sparse as module

PATH = np.array([[0.0, 2.0, 0.0], [2.0, 1.0, 3.0], [0.0, 3.0, 0.0]])


@pytest.mark.parametrize("fmt", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
@pytest.mark.parametrize("container", ["array", "matrix"])
def test_every_format(fmt, container):
    A = getattr(sp, f"{fmt}_{container}")(PATH)
    operator = Sparse(A)
    assert_array_equal(operator.toarray(), PATH)
    assert_array_equal(operator @ np.eye(3), PATH)
    assert operator.indptr.dtype == operator.indices.dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_canonical_input_is_not_copied(dtype, index):
    A = sp.csr_array(PATH.astype(dtype))
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    operator = Sparse(A)
    for ours, theirs in (
        (operator.values, A.data),
        (operator.indices, A.indices),
        (operator.indptr, A.indptr),
    ):
        assert np.shares_memory(ours, theirs)
        assert ours.dtype == theirs.dtype


def test_unsorted_and_doubled_entries_are_put_right_in_a_copy():
    data, indices = np.array([1.0, 4.0, 2.0, 5.0]), np.array([1, 0, 0, 0])
    A = sp.csr_array((data, indices, np.array([0, 2, 4])), shape=(2, 2))
    operator = Sparse(A)
    assert_array_equal(operator.toarray(), [[4.0, 1.0], [7.0, 0.0]])
    assert_array_equal(operator.indices, [0, 1, 0])
    assert_array_equal(A.indices, [1, 0, 0, 0])
    assert_array_equal(A.data, [1.0, 4.0, 2.0, 5.0])


def test_small_integers_and_bools_are_summed_as_floats():
    twice = (np.array([0, 0]), np.array([0, 0]))
    assert Sparse(sp.coo_array((np.array([100, 100], dtype=np.int8), twice), shape=(1, 1))).toarray() == 200
    operator = Sparse(sp.coo_array((np.array([True, True]), twice), shape=(1, 1)))
    assert operator.dtype == np.float64
    assert operator.toarray() == 2


def test_mixed_index_types_become_one():
    A = sp.csr_array(PATH)
    A.indptr = A.indptr.astype(np.int64)
    assert_array_equal(Sparse(A) @ np.eye(3), PATH)


def test_no_entries_at_all():
    operator = Sparse(sp.csr_array((80, 80)))
    assert operator.largest() == operator.squared_norm() == operator.asymmetry() == 0.0
    assert operator.is_nonnegative()
    assert_array_equal(operator @ np.ones((80, 3)), np.zeros((80, 3)))
    values, vectors = operator.eigsh(3)
    assert_array_equal(values, 0)
    assert_array_equal(vectors.T @ vectors, np.eye(3))


def test_the_largest_of_a_full_negative_matrix_is_negative():
    assert Sparse(sp.csr_array(-np.ones((3, 3)))).largest() == -1.0
    assert Sparse(sp.csr_array(-PATH)).largest() == 0.0


def test_damaged_indices_do_not_reach_the_kernels():
    A = sp.csr_array(PATH)
    A.indices = np.array([1, 0, 1, 99, 1], dtype=np.int32)
    with pytest.raises(InputError, match="damaged"):
        Sparse(A)


def test_errors():
    with pytest.raises(InputError, match=r"square.*\(2, 3\)"):
        Sparse(sp.csr_array((2, 3)))
    with pytest.raises(InputError, match="at least one row"):
        Sparse(sp.csr_array((0, 0)))
    with pytest.raises(InputTypeError, match=r"complex128.*real numbers"):
        Sparse(sp.csr_array(PATH.astype(complex)))


def test_few_rows_of_a_large_matrix_are_combined_alike(monkeypatch):
    rng = np.random.default_rng(0)
    A = sp.random_array((40, 40), density=0.2, rng=rng)
    operator = Sparse(A + A.T)
    ids, weights = np.array([3, 30, 7]), rng.normal(size=3)
    whole = operator.combine_rows(ids, weights)
    monkeypatch.setattr(module, "FEW_NONZEROS", 0)
    assert_allclose(operator.combine_rows(ids, weights), whole, rtol=1e-12, atol=1e-12)
