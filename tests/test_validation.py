"""What features may be, and what is said when they are not."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from symclust.exceptions import InputError, InputTypeError, OptionError
from symclust.validation import check_features, check_nonnegative, check_number


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_matrix])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (int, np.float64),
        (bool, np.float64),
        (np.uint8, np.float64),
    ],
)
def test_precision(form, given, expected):
    X = check_features(form(np.eye(3, 2, dtype=given)))
    assert X.dtype == expected
    assert isinstance(X, np.ndarray if form is np.asarray else sparse.csr_array)
    np.testing.assert_array_equal(X.toarray() if sparse.issparse(X) else X, np.eye(3, 2))


def test_lists_and_frames_are_read_and_arrays_are_row_major():
    assert check_features([[1, 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert check_features(pd.DataFrame({"a": [1.0], "b": [2.0]})).tolist() == [[1.0, 2.0]]
    assert check_features(np.asfortranarray(np.ones((3, 2)))).flags.c_contiguous
    X = np.ones((3, 2))
    assert check_features(X) is X


def test_sparse_input_is_made_canonical_without_being_changed():
    given = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    X = check_features(given)
    assert X.has_canonical_format
    assert X.toarray().tolist() == [[2.0, 5.0]]
    assert given.indices.tolist() == [1, 0, 1]
    assert given.data.tolist() == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize(("value", "words"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_not_finite(form, value, words):
    X = np.ones((4, 3))
    X[0] = 0
    X[2, 1] = X[3, 0] = value
    with pytest.raises(InputError, match=f"Input X contains {words}.*: 2, the first at row 2, column 1"):
        check_features(form(X))


def test_nan_is_named_before_infinity():
    with pytest.raises(InputError, match=r"Input Y contains NaN.*: 1, the first at row 0, column 1"):
        check_features([[np.inf, np.nan]], name="Y")


def test_numbers_whose_sum_overflows_are_fine():
    X = np.full((2, 2), 1e308)
    assert check_features(X) is X


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1.0, 2.0], "Reshape your data"),
        (3.0, "Expected 2D array"),
        (np.ones((2, 2), dtype=complex), "Complex data not supported"),
        (np.ones((0, 3)), "0 sample"),
        (np.ones((3, 0)), "0 feature"),
        (np.ones((2, 2, 2)), "dim 3"),
        ([["a", "b"]], "could not convert"),
    ],
)
def test_other_unusable_input(given, words):
    with pytest.raises(InputError, match=words):
        check_features(given)


def test_entries_that_are_not_numbers():
    with pytest.raises(InputTypeError, match="number"):
        check_features(np.array([[{}, 1]], dtype=object))


@pytest.mark.parametrize("value", [0, 1.0, np.float32(0.5), np.int64(1)])
def test_numbers_between_two_bounds(value):
    check_number("noise", value, least=0, most=1)


@pytest.mark.parametrize("value", [0, 1.1, np.inf, np.nan, True, "1", None])
def test_numbers_outside_two_bounds(value):
    with pytest.raises(OptionError, match=r"noise=.* must be a number above 0 and at most 1\."):
        check_number("noise", value, least=0, most=1, exclusive=True)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_negative_entries_are_named_with_their_place_and_the_estimator(form):
    X = np.ones((4, 3))
    X[0] = 0
    check_nonnegative(form(-0.0 * X), "NMF")
    X[2, 1] = -2.5
    X[3, 0] = -1
    words = r"passed to NMF.*concerned: 2, the first at row 2, column 1: -2\.5\. Use the weights"
    with pytest.raises(InputError, match=words):
        check_nonnegative(form(X), "NMF", "Use the weights as they were.")
