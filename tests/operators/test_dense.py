"""What is particular to `Dense` and to the base class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from symclust import _kernels
from symclust.exceptions import InputError, InputTypeError
from symclust.operators import Dense, Operator


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_major_input_and_its_rows_are_not_copied(dtype):
    A = np.eye(5, dtype=dtype)
    operator = Dense(A)
    assert np.shares_memory(operator.array, A)
    assert np.shares_memory(operator.rows(slice(1, 3)), A)
    assert np.shares_memory(operator.block(slice(1, 3)), A)
    assert not np.shares_memory(operator.toarray(), A)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("int8", "float64"),
        ("bool", "float64"),
        ("uint32", "float64"),
        ("float16", "float32"),
        ("longdouble", "float64"),
    ],
)
def test_dtypes(given, kept):
    assert Dense(np.eye(3).astype(given)).dtype == kept


def test_column_major_input_keeps_rows_and_columns_apart():
    A = np.asfortranarray(np.arange(9.0).reshape(3, 3))
    assert_array_equal(Dense(A).rows([0]), A[[0]])
    assert Dense(A).array.flags.c_contiguous


@pytest.mark.parametrize("A", [np.ones((2, 3)), np.ones(4), np.ones((2, 2, 2)), np.ones((0, 0))])
def test_shapes_refused(A):
    with pytest.raises(InputError, match=rf"\({A.shape[0]},"):
        Dense(A)


@pytest.mark.parametrize("dtype", [complex, object, "U3"])
def test_dtypes_refused(dtype):
    with pytest.raises(InputTypeError, match="real numbers"):
        Dense(np.eye(2).astype(dtype))


def test_squared_norm_of_float32_is_accumulated_in_float64():
    A = np.full((3000, 3000), 0.1, dtype=np.float32)
    assert Dense(A).squared_norm() == pytest.approx(9e6 * float(np.float32(0.1)) ** 2, rel=1e-12)


def test_repr_names_class_shape_and_dtype():
    assert repr(Dense(np.eye(2, dtype=np.float32))) == "<Dense 2 x 2 float32>"


def test_operators_do_not_turn_into_arrays_by_themselves():
    assert np.asarray(Dense(np.eye(2))).dtype == object


def test_the_base_class_asks_for_a_product():
    with pytest.raises(TypeError, match="_product"):
        Operator(3, np.float64)


def test_default_row_blocks_are_about_8_megabytes():
    sizes = [block.nbytes for _, block in Dense(np.zeros((2500, 2500))).row_blocks()]
    assert sum(sizes) == 2500 * 2500 * 8
    assert max(sizes) <= 8 << 20 < max(sizes) + 2500 * 8


@settings(max_examples=30)
@given(
    n=st.integers(1, 400),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**16),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_submatrix_kernel_equals_its_twin(n, share, seed, dtype):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n)).astype(dtype)
    index = rng.permutation(n)[: int(share * n)]
    out = np.empty((index.size, index.size), dtype=dtype)
    _kernels.submatrix(A, index, out)
    assert_array_equal(out, A[np.ix_(index, index)])
