"""What features may be, and what is said when they are not."""

import re
from pathlib import Path

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from symclust import _kernels
from symclust.exceptions import InputError, InputTypeError, OptionError
from symclust.objectives import HasGradient, HasNormalEquations, missing_methods
from symclust.operators import Dense, Gram, LowRank, Masked, Operator, Shifted, Sparse, as_operator
from symclust.validation import (
    PAIRS,
    check_features,
    check_memory,
    check_nonnegative,
    check_number,
    check_scale,
    check_similarity,
    check_stored,
    looks_like_similarity,
    refuse_ambiguous,
    refuse_edges,
    warn_of_edges,
)


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


@pytest.mark.filterwarnings("error")
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
        (["a", "b"], "could not convert string to float: 'a'"),
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


@pytest.mark.parametrize("given", ["data.csv", Path("data.csv"), b"1,2", np.str_("data.csv")])
def test_a_path_is_not_the_data(given):
    with pytest.raises(
        InputTypeError, match=r"X is a path or a text.*symclust\.read.*numpy\.loadtxt.*pandas\.read_csv"
    ):
        check_features(given)


def test_an_anndata_may_have_no_matrix():
    AnnData = type("AnnData", (), {"__module__": "anndata._core.anndata", "shape": (3, 3)})
    with pytest.raises(InputError, match=r"X is an AnnData without a matrix X.*layers.*adata\.obsm"):
        check_features(AnnData())


def test_entries_that_are_not_numbers_are_named_with_their_place():
    with pytest.raises(InputError, match=r"'b', is at row 1, column 0\. Every entry must be a number"):
        check_features([[1, 2], ["b", 3]])
    frame = pd.DataFrame({"age": [1, 2], "town": [3, "Ulm"]})
    with pytest.raises(InputError, match=r"'Ulm', is at row 1, column 1 \('town'\)"):
        check_features(frame)
    with pytest.raises(InputTypeError, match=r"\{\}, is at row 0, column 1"):
        check_features(np.array([[1, {}]], dtype=object))


def test_masked_entries_are_refused_and_an_idle_mask_is_not():
    X = np.ma.masked_array(np.ones((3, 2)), mask=[[0, 0], [1, 0], [0, 1]])
    with pytest.raises(InputError, match=r"2 of 6 entries of X are masked.*SimpleImputer"):
        check_features(X)
    with pytest.raises(InputError, match=r"entries of Y are masked.*ignore= of OffDiagonalSymNMF"):
        check_features(X, name="Y", gaps=PAIRS)
    assert check_features(np.ma.masked_array(np.ones((3, 2)))).tolist() == np.ones((3, 2)).tolist()


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sparse.csr_array, sparse.coo_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, int])
def test_a_copy_shares_no_memory(form, dtype):
    given = form(np.eye(4, 3, dtype=dtype))
    X = check_features(given, copy=True)
    before = X.copy()
    if sparse.issparse(given):
        given.data[:] = 7
        (given.indices if form is sparse.csr_array else given.col)[:] = 0
    else:
        given[...] = 7
    assert abs(X - before).max() == 0


class Product(Operator):
    """Known by its product alone."""

    def __init__(self, A):
        super().__init__(A.shape[0], A.dtype)
        self._A = A

    def _product(self, H):
        return self._A @ H


class Rows(Product):
    """Gives its rows besides."""

    def _rows(self, index):
        return self._A[index]


ENDS = np.array([[1.0], [-2.0], [1.0]])
HIDDEN = sparse.csr_array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("form", [Dense, lambda A: Sparse(sparse.csr_array(A)), Rows])
def test_the_least_symmetric_pair_is_named(form):
    A = np.ones((5, 5))
    A[1, 2], A[4, 3] = 1.25, 3.0
    words = r"differ by up to 2 \(.*\), most at row (3, column 4: 1 against 3|4, column 3: 3 against 1)\."
    with pytest.raises(InputError, match=words):
        check_similarity(form(A))
    with pytest.raises(InputError, match="most at row"):
        check_similarity(Shifted(form(A), None, 0.5))


@pytest.mark.parametrize(
    ("operator", "words"),
    [
        (Dense(ENDS @ ENDS.T), r"\(-2 at row 0, column 1\)"),
        (Sparse(sparse.csr_array(ENDS @ ENDS.T)), r"\(-2 at row 0, column 1\)"),
        (Gram(ENDS), r"\(-2 at row 0, column 1\)"),
        (LowRank(ENDS), r"\(-2 at row 0, column 1\)"),
        (Product(ENDS @ ENDS.T), r"\(-2 at row 0, column 1\)"),
        (Masked(Gram(ENDS), HIDDEN), r"\(-2 at row 1, column 2\)"),
    ],
)
def test_a_negative_entry_is_named(operator, words):
    with pytest.raises(InputError, match="some similarities are negative " + words):
        check_similarity(operator)


FORMS = [
    Dense,
    lambda A: Sparse(sparse.csr_array(A)),
    Product,
    lambda A: LowRank(np.ones((4, 1), A.dtype), A[0, :1]),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1e-310, -1e-310])
def test_similarities_that_have_lost_their_digits_are_refused(form, size):
    with pytest.raises(InputError, match=r"too small: its largest entry is 1e-310.*Multiply it by"):
        check_similarity(form(np.full((4, 4), size)), nonnegative=False)
    with pytest.raises(InputError, match=r"too small: its largest entry is 1e-41"):
        check_similarity(form(np.full((4, 4), 1e-41, dtype=np.float32)), nonnegative=False)
    assert check_similarity(form(np.full((4, 4), 1e-170))) == 0  # for those who need no squares


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1e-160, 1e-170])
def test_similarities_whose_squares_vanish_have_a_size(form, size):
    with pytest.raises(InputError, match=r"of size ‖A‖ = .*e-1.*Multiply it by a constant"):
        check_scale(form(np.full((4, 4), size)))


def test_no_similarity_at_all_is_not_too_small():
    assert check_similarity(Dense(np.zeros((4, 4)))) == 0
    assert check_similarity(Sparse(sparse.csr_array((4, 4)))) == 0
    assert check_similarity(Gram(np.eye(4), self_edges=False)) == 0


def test_the_norm_is_computed_once(monkeypatch):
    A, sums = Gram(np.ones((4, 1))), []
    monkeypatch.setattr(Gram, "_sum_of_squares", lambda self: sums.append(self) or 16.0)
    assert check_similarity(A) == A.squared_norm() == 16
    assert len(sums) == 1


def test_a_dense_matrix_is_read_once_for_all_checks(monkeypatch):
    A, read, survey = Dense(np.ones((4, 4))), [], _kernels.survey_dense
    monkeypatch.setattr(_kernels, "survey_dense", lambda array: read.append(array) or survey(array))
    assert check_similarity(A) == A.squared_norm() == 16
    assert len(read) == 1


def test_memory_that_is_not_there(monkeypatch):
    monkeypatch.setattr("symclust.validation.memory._available_memory", lambda: 8 * 10**9)
    with pytest.raises(
        InputError, match=r"The graph would take 9 GB of memory, of which 8 GB are available\. Do"
    ):
        check_memory(9 * 10**9, "The graph", "Do less.")
    check_memory(10**6, "The graph", "Do less.")
    monkeypatch.setattr("symclust.validation.memory._available_memory", lambda: None)
    with pytest.raises(InputError, match=r"The graph would take 4\.61e\+09 GB of memory\. Do less"):
        check_memory(1 << 62, "The graph", "Do less.")


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


# Similarities given as features -----------------------------------------------------------------------------


def symmetric(n=12, seed=0, diagonal=0.0):
    A = np.random.RandomState(seed).rand(n, n)
    A = A + A.T
    np.fill_diagonal(A, diagonal)
    return A


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("diagonal", [0.0, 1.0, 5.5])
def test_symmetric_matrices_look_like_similarities(form, diagonal):
    assert looks_like_similarity(form(symmetric(diagonal=diagonal)))
    graph = (symmetric() > 1.3).astype(np.float32)
    assert looks_like_similarity(form(graph))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_features_do_not(form):
    A = symmetric()
    almost = A.copy()
    almost[3, 7] = np.nextafter(almost[3, 7], 1)
    late = A.copy()
    late[10, 11] += 1
    signed = A - 0.5
    names = (np.eye(12), np.zeros((12, 12)), np.diag(np.arange(12.0)))  # of samples, or nothing at all
    for X in (A[:, :5], A[:5, :5], almost, late, signed, *names):
        assert not looks_like_similarity(form(X))


@given(arrays(np.float64, (12, 12), elements=st.floats(0, 4)), st.booleans())
def test_looking_is_the_same_for_both_forms(X, mirror):
    X = X + X.T if mirror else X
    expected = bool((X == X.T).all() and (X - np.diag(X.diagonal())).any())
    assert looks_like_similarity(X) == looks_like_similarity(sparse.csr_array(X)) == expected


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (symmetric(diagonal=1.0), "with 1 all along its diagonal"),
        (symmetric(diagonal=np.arange(12)), "not negative"),
        (sparse.csr_array(symmetric() > 1.3, dtype=float), "adjacency matrix of a graph"),
        (symmetric(), "If they are distances, turn them into similarities first"),
    ],
)
def test_the_question_names_both_readings(X, words):
    with pytest.raises(InputError, match=re.escape(words)) as raised:
        refuse_ambiguous(X)
    assert "12 × 12" in str(raised.value)
    assert "affinity='precomputed'" in str(raised.value)
    assert "affinity='nearest_neighbors'" in str(raised.value)


# Edges ------------------------------------------------------------------------------------------------------

NAMES = [("ann", "bob"), ("bob", "cem"), ("cem", "dee")]


@pytest.mark.parametrize(
    ("edges", "way"),
    [
        (NAMES, "networkx.from_edgelist(edges)"),
        (np.array(NAMES), "networkx.from_edgelist(edges)"),
        ([(*edge, 2.5) for edge in NAMES] * 2, "graph.add_weighted_edges_from(edges)"),
        (list(nx.path_graph(5).edges), "networkx.from_edgelist(edges)"),
        (nx.path_graph(5).edges, "fit(graph)"),
        (nx.path_graph(5).edges(), "fit(graph)"),
        (nx.path_graph(5).edges(data=True), "fit(graph)"),
        (nx.MultiGraph([(0, 1)]).edges, "fit(graph)"),
        (igraph.Graph.Ring(5).es, "fit(graph)"),
        (pd.DataFrame(NAMES, columns=["source", "target"]), "from_pandas_edgelist(df, 'source', 'target'))"),
        (pd.DataFrame([[0, 1, 2.0]], columns=["From", "To", "n"]), "'From', 'To', edge_attr='n')) with aff"),
    ],
)
def test_edges_are_refused_by_name_with_the_way_to_do_it(edges, way):
    for check in (check_features, as_operator):
        with pytest.raises(InputTypeError, match=re.escape(way)):
            check(edges)


@pytest.mark.parametrize("edges", [[[0, 1], [1, 2], [2, 3]], np.array([[0, 1, 2.5]] * 4), [[5, 1]] * 9])
def test_pairs_of_numbers_are_features_or_edges_by_what_is_expected(edges):
    assert check_features(edges).shape == np.shape(edges)
    with pytest.raises(InputTypeError, match=f"list of {len(edges)} edges"):
        as_operator(edges)


@pytest.mark.parametrize("X", [[[0, 1], [1, 0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]])
def test_a_small_matrix_is_no_list_of_edges(X):
    assert as_operator(np.array(X)).n == len(X)


@pytest.mark.parametrize(
    "X",
    [[], [[]], np.array(3.0), [1.0, 2.0], ["ab", "cd", "ef"], [[1.5, 2.0]] * 4, np.ones((5, 2)), [(0, [1])]],
)
def test_what_is_no_list_of_edges(X):
    refuse_edges(X, numbers=True)


def damaged(change):
    X = sparse.csr_array(np.eye(4))
    change(X)
    return X


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda X: setattr(X, "indptr", X.indptr[:-1]),
            r"indptr has 4 numbers, expected 5 for shape \(4, 4\)",
        ),
        (
            lambda X: X.indptr.__setitem__(-1, 9),
            r"indptr ends with 9, for 4 indices and values of shape \(4,\)",
        ),
        (lambda X: X.indices.__setitem__(1, 7), "its indices go from 0 to 7, expected 0 to 3"),
    ],
)
def test_damaged_rows_are_described_in_numbers(change, said):
    with pytest.raises(InputError, match=f"^The sparse H is damaged: {said}"):
        check_features(damaged(change), name="H")


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix])
def test_unsigned_indices_become_signed_in_the_same_container(form):
    X = form(np.eye(4))
    X.indices, X.indptr = X.indices.astype(np.uint32), X.indptr.astype(np.uint32)
    checked = check_stored(X)
    assert type(checked) is form
    assert (checked.indices.dtype.kind, checked.indptr.dtype.kind) == ("i", "i")
    np.testing.assert_array_equal(checked.toarray(), np.eye(4))


def test_pairs_with_large_numbers_look_like_edges_too():
    numbers = 1000 + np.arange(20)
    with pytest.warns(UserWarning, match="20 pairs of whole numbers from 1000 to 1019"):
        warn_of_edges(np.column_stack([numbers, np.roll(numbers, 1)]))


def test_a_sparse_matrix_with_positive_entries_alone_looks_like_a_similarity():
    A = np.kron(np.eye(4), np.ones((5, 5)))
    assert looks_like_similarity(sparse.csr_array(A * 7))
    assert not looks_like_similarity(sparse.csr_array(-A))


def test_what_an_objective_lacks_is_said_in_words():
    assert missing_methods((HasNormalEquations, HasGradient), object()) == ["normal equations", "gradient"]
