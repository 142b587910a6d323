"""Numbers, sizes, memory and answers: the limits of what is accepted, from both sides."""

import io
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from symclust.exceptions import InputError, InputTypeError, OptionError
from symclust.operators import Dense
from symclust.validation import (
    check_known,
    check_memory,
    check_n_clusters,
    check_number,
    check_range,
    check_scale,
    check_similarity,
    float_dtype,
    is_missing,
    is_true,
)
from symclust.validation.memory import _available_memory


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("float16", "float32"), ("float32", "float32"), ("float64", "float64"), ("longdouble", "float64"),
        ("int8", "float64"), ("uint64", "float64"), ("bool", "float64"),
    ],
)  # fmt: skip
def test_the_precision_to_compute_in(given, expected):
    assert float_dtype(given) == np.dtype(expected)


@pytest.mark.parametrize("given", ["complex64", "U3", "datetime64[s]", "object"])
def test_entries_that_are_no_real_numbers_have_none(given):
    with pytest.raises(
        InputTypeError, match=rf"dtype {np.dtype(given)}.*float32, float64".replace("[", r"\[")
    ):
        float_dtype(given)


# Parameters -------------------------------------------------------------------------------------------------


@given(st.floats(allow_nan=True), st.floats(-5, 5), st.floats(0, 5), st.booleans())
def test_a_number_is_accepted_exactly_between_its_bounds(value, least, width, exclusive):
    most = least + width
    fits = math.isfinite(value) and (value > least if exclusive else value >= least) and value <= most
    if fits:
        check_number("level", value, least=least, most=most, exclusive=exclusive)
    else:
        with pytest.raises(OptionError, match="level="):
            check_number("level", value, least=least, most=most, exclusive=exclusive)


@pytest.mark.parametrize("exclusive", [False, True])
def test_the_bounds_themselves(exclusive):
    check_number("level", 2, least=1, most=2, exclusive=exclusive)
    check_number("level", 1e300, least=1, exclusive=exclusive)
    if exclusive:
        with pytest.raises(OptionError, match=r"level=1 must be a number above 1 and at most 2\.$"):
            check_number("level", 1, least=1, most=2, exclusive=True)
    else:
        check_number("level", 1, least=1, most=2)


def test_whole_numbers():
    check_number("n", np.int32(3), least=1, whole=True)
    for wrong in (3.0, True, "3", None):
        with pytest.raises(OptionError, match=r"n=.* must be a whole number of at least 1\.$"):
            check_number("n", wrong, least=1, whole=True)
    with pytest.raises(OptionError, match="n=True must be a number of at least 0"):
        check_number("n", True, least=0)


@pytest.mark.parametrize("n_samples", [None, 7])
@pytest.mark.parametrize("given", [1, 7, np.int64(3)])
def test_possible_numbers_of_clusters(given, n_samples):
    found = check_n_clusters(given, n_samples)
    assert (found, type(found)) == (given, int)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (0, "n_clusters=0 is not possible: give a whole number from 1 on"),
        (-2, "n_clusters=-2 is not possible"),
        (8, "n_clusters=8 is not possible with n_samples=7: give a number from 1 to 7"),
        (True, "n_clusters=True must be a whole number"),
        (2.0, "n_clusters=2.0 must be a whole number"),
        ("four", "n_clusters='four' must be a whole number.*'auto'"),
    ],
)
def test_impossible_numbers_of_clusters(given, words):
    with pytest.raises(OptionError, match=words):
        check_n_clusters(given, 7)


def test_names_are_known_or_listed():
    check_known("metric", "cosine", ("cosine", "euclidean"))
    for wrong in ("Cosine", None, 0, ["cosine"]):
        words = r"metric=.* is not known\. Choose one of 'cosine', 'euclidean'\.$"
        with pytest.raises(OptionError, match=words):
            check_known("metric", wrong, ("cosine", "euclidean"))
    with pytest.raises(OptionError, match=r"'cosine', or None\.$"):
        check_known("metric", "x", ("cosine",), ", or None")


@pytest.mark.parametrize("value", [None, math.nan, np.nan, np.float64("nan"), pd.NA])
def test_values_that_are_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", ["", "nan", 0, 0.0, math.inf, False, [], ()])
def test_values_that_are_there(value):
    assert not is_missing(value)


@pytest.mark.parametrize(
    ("answer", "stops"),
    [(True, True), (np.True_, True), (False, False), (np.False_, False), (1, False), ("yes", False)],
)
def test_only_true_stops_a_run(answer, stops):
    assert is_true(answer) is stops


# Sizes of numbers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("dtype", "limit"), [(np.float32, 1e15), (np.float64, 1e75)])
def test_features_whose_products_stay_in_range(form, dtype, limit):
    for largest in (0.99 * limit, 1.01 / limit, 1.0, 0.0):
        check_range(form(np.array([[largest, 0.0]], dtype=dtype)))
    for largest in (1.01 * limit, 0.99 / limit):
        words = rf"largest entry of X is .*e.*leave the range of {np.dtype(dtype)}.*between .*e-.* and .*e\+"
        with pytest.raises(InputError, match=words):
            check_range(form(np.array([[largest, 0.0]], dtype=dtype)))


# The roots of the least and the largest number: the second of float32, the third of float64.
@pytest.mark.parametrize(
    ("dtype", "least", "most"), [(np.float32, 1.0842e-19, 1.8447e19), (np.float64, 2.8126e-103, 5.6438e102)]
)
def test_similarities_whose_gradients_stay_in_range(dtype, least, most):
    for norm in (1.01 * least, 0.99 * most, 0.0):
        check_scale(Dense(np.array([[norm]], dtype=dtype)))
    for norm in (0.99 * least, 1.01 * most):
        words = rf"size ‖A‖ = .*sizes from .*e-.* to .*e\+.* can be factored in {np.dtype(dtype)}"
        with pytest.raises(InputError, match=words):
            check_scale(Dense(np.array([[norm]], dtype=dtype)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-3, 1.0, -1e3])
def test_symmetry_up_to_rounding(dtype, size):
    A = np.full((5, 5), size, dtype=dtype)
    eps = np.finfo(dtype).eps
    A[1, 3] *= 1 + 1e3 * eps
    check_similarity(Dense(A), nonnegative=False)
    A[1, 3] *= 1 + 1e5 * eps
    with pytest.raises(InputError, match=r"Table is not symmetric.*entries are as large as"):
        check_similarity(Dense(A), nonnegative=False, name="Table")
    check_similarity(Dense(A), nonnegative=False, symmetric=True)  # known to be: not looked at


def test_asymmetry_is_seen_beside_entries_that_are_small():
    with pytest.raises(InputError, match=r"differ by up to 1e-20 .*1e-20 against 0"):
        check_similarity(Dense(np.array([[0.0, 1e-20], [0.0, 0.0]])))


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_similarities_that_are_not_finite_or_overflow(value):
    A = np.ones((3, 3))
    A[0, 1] = A[1, 0] = value
    with pytest.raises(InputError, match=r"NaN, infinity, or values whose squares overflow.*Put 0 where two"):
        check_similarity(Dense(A))


def test_negative_similarities_are_accepted_by_those_who_say_so():
    A = np.array([[1.0, -0.5], [-0.5, 1.0]])
    assert check_similarity(Dense(A), nonnegative=False) == pytest.approx(2.5)
    with pytest.raises(InputError, match=r"negative \(-0\.5 at row 0, column 1\).*SymmetricFactorization"):
        check_similarity(Dense(A))


def test_places_have_the_names_of_nodes_that_are_not_numbered():
    A = Dense(np.array([[1.0, -0.5], [-0.5, 1.0]]))
    for names, words in (
        (["ann", "bob"], r"at row 0, column 1 \('ann' and 'bob'\)\)"),
        ([7, 1], r"at row 0, column 1 \(7 and 1\)\)"),
        ([0, 1], r"at row 0, column 1\)"),
    ):
        A.names = names
        with pytest.raises(InputError, match=words):
            check_similarity(A)


# Memory -----------------------------------------------------------------------------------------------------


def test_memory_is_refused_beyond_what_is_there(monkeypatch):
    monkeypatch.setattr("symclust.validation.memory._available_memory", lambda: 1000)
    check_memory(1000, "The graph", "Do less.")
    with pytest.raises(InputError, match=r"^The graph would take 1e-06 GB of memory, of which 1e-06 GB"):
        check_memory(1001, "The graph", "Do less.")


def test_memory_that_the_system_refuses(monkeypatch):
    monkeypatch.setattr("symclust.validation.memory._available_memory", lambda: 1 << 63)
    with pytest.raises(
        InputError, match=r"4\.61e\+09 GB of memory, of which 9\.22e\+09 GB are available\. Do"
    ):
        check_memory(1 << 62, "The graph", "Do less.")


class Machine:
    """What a system says of its memory: the lines of a file, and the number of pages."""

    def __init__(self, monkeypatch):
        monkeypatch.setattr("symclust.validation.memory.open", self.open, raising=False)
        monkeypatch.setattr("os.sysconf", self.sysconf)

    def open(self, path, encoding):
        assert path == "/proc/meminfo"
        if self.lines is None:
            raise FileNotFoundError(path)
        return io.StringIO(self.lines)

    def sysconf(self, name):
        if self.pages is None:
            raise ValueError("unrecognized configuration name")
        return {"SC_PHYS_PAGES": self.pages, "SC_PAGE_SIZE": 4096}[name]


@pytest.mark.parametrize(
    ("lines", "pages", "expected"),
    [
        ("MemTotal:   200 kB\nMemAvailable:   100 kB\n", 30, 100 * 1024),
        ("MemTotal:   200 kB\n", 30, 30 * 4096),  # an old kernel: all there is
        ("MemTotal:   200 kB\nMemAvailable: much\n", 30, 30 * 4096),
        ("no such lines", 30, 30 * 4096),
        (None, 30, 30 * 4096),
        (None, None, None),
    ],
)
def test_what_the_system_says_of_its_memory(monkeypatch, lines, pages, expected):
    machine = Machine(monkeypatch)
    machine.lines, machine.pages = lines, pages
    assert _available_memory() == expected
