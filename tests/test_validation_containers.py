"""What holds the data: tables, AnnData, lists and tables of edges, Dask, and matrices that may be either."""

import anndata
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from symclust.exceptions import InputError, InputTypeError
from symclust.graphs import AttributedGraph, AttributedNodes
from symclust.validation import (
    check_features,
    check_nonnegative,
    end_columns,
    is_a,
    looks_like_similarity,
    refuse_ambiguous,
    refuse_edges,
    sample_names,
)

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def test_classes_are_recognised_without_their_library():
    assert is_a(pd.DataFrame(), "pandas", "DataFrame")
    assert is_a(type("Mine", (pd.DataFrame,), {})(), "pandas", "DataFrame")
    assert not is_a(pd.DataFrame(), "pandas", "Series")
    assert not is_a(type("DataFrame", (), {})(), "pandas", "DataFrame")


# Features ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_an_anndata_is_its_matrix(form):
    found = check_features(anndata.AnnData(form(X)))
    assert sparse.issparse(found) == (form is not np.asarray)
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)


def test_an_anndata_on_disk_is_read(tmp_path):
    anndata.AnnData(sparse.csr_matrix(X)).write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    np.testing.assert_array_equal(check_features(backed).toarray(), X)


def test_blocks_of_dask_are_refused_by_their_name():
    for given, kind in ((da.from_array(X), "Array"), (da.from_array(X).to_dask_dataframe(), "DataFrame")):
        with pytest.raises(InputTypeError, match=rf"Y is a Dask {kind}.*Give Y\.compute\(\) if it fits"):
            check_features(given, name="Y")


def test_edges_and_features_together_are_more_than_features():
    edges = np.ones((3, 3)) - np.eye(3)
    for both in (AttributedGraph(edges, X), AttributedNodes(edges, X)):
        words = rf"Y is {type(both).__name__}, edges and.*Give Y\.features alone here"
        with pytest.raises(InputTypeError, match=words):
            check_features(both, name="Y")


def test_long_texts_are_cut_in_messages():
    with pytest.raises(InputTypeError, match=r"Y is a path or a text, 'a{59}\. Expected"):
        check_features("a" * 200, name="Y")
    with pytest.raises(InputError, match=r"entry, 'a{59}, is at row 1, column 0\. Every entry"):
        check_features([[1, 2], ["a" * 200, 3]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_single_bad_entry_is_found_wherever_it_is(form):
    for row, column in np.ndindex(3, 2):
        for bad, words in ((np.nan, "Input Y contains NaN"), (-np.inf, "Input Y contains infinity")):
            given = X.copy()
            given[row, column] = bad
            with pytest.raises(
                InputError, match=rf"{words}.*: 1, the first at row {row}, column {column}\. Ask"
            ):
                check_features(form(given), name="Y", gaps="Ask.")
        given = X.copy()
        given[row, column] = -7
        with pytest.raises(
            InputError, match=rf"NMF.*: 1, the first at row {row}, column {column}: -7\. Shift"
        ):
            check_nonnegative(form(given), "NMF")


# Names ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (None, None),
        (pd.RangeIndex(3), None),
        (pd.RangeIndex(1, 4), [1, 2, 3]),
        (pd.RangeIndex(0, 6, 2), [0, 2, 4]),
        (pd.Index([0, 1, 2]), [0, 1, 2]),  # written down, so it may mean something
        (["a", "b", "c"], ["a", "b", "c"]),
    ],
)
def test_names_of_the_rows_of_a_table(index, expected):
    assert sample_names(pd.DataFrame(X, index=index)) == expected


@pytest.mark.parametrize(
    ("names", "are_counted"), [(["0", "1", "2"], True), (["0", "2", "1"], False), (["a", "b", "c"], False)]
)
def test_names_of_the_samples_of_an_anndata(names, are_counted):
    found = sample_names(anndata.AnnData(X, obs=pd.DataFrame(index=names)))
    assert found == (None if are_counted else names)


def test_arrays_have_no_names():
    assert sample_names(X) is None


# Edges ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["source", "target"], ("source", "target")),
        (["w", " To ", "FROM"], ("FROM", " To ")),
        (["u", "v", "weight", "kind"], ("u", "v")),
        (["u", "v", "weight", "kind", "year"], None),
        (["source"], None),
        (["source", "weight"], None),
        (["target", "weight"], None),
        ([0, 1], None),
    ],
)
def test_the_columns_that_hold_the_ends_of_edges(columns, expected):
    assert end_columns(pd.DataFrame([[1] * len(columns)], columns=columns)) == expected


@pytest.mark.parametrize(
    ("columns", "way", "parameter"),
    [
        (["u", "v"], "from_pandas_edgelist(df, 'u', 'v')), or", None),
        (["u", "v", "weight"], "from_pandas_edgelist(df, 'u', 'v', edge_attr='weight')), or", None),
        (["n", "u", "v"], "from_pandas_edgelist(df, 'u', 'v', edge_attr='n'))", "{'weight': 'n'}, or"),
    ],
)
def test_a_table_of_edges_is_answered_with_the_call_that_reads_it(columns, way, parameter):
    with pytest.raises(InputTypeError) as raised:
        refuse_edges(pd.DataFrame([[1] * len(columns)] * 4, columns=columns), name="Y")
    assert str(raised.value).startswith("Y looks like a table of 4 edges, from 'u' to 'v'.")
    assert way in str(raised.value)
    assert ("affinity_params" in str(raised.value)) == (parameter is not None)
    assert (parameter or "") in str(raised.value)


@pytest.mark.parametrize(
    ("edges", "ways"),
    [
        ([("a", "b")] * 4, ["networkx.from_edgelist(edges), or", "weights=False", "encode names as numbers"]),
        ([("a", "b", 2)] * 4, ["networkx.Graph(); graph.add_weighted_edges_from(edges), or", "weights=True"]),
        ([(0, 1)] * 4, ["networkx.from_edgelist(edges), or", "weights=False", "give numpy.asarray(X)"]),
    ],
)
def test_a_list_of_edges_is_answered_with_the_calls_that_read_it(edges, ways):
    with pytest.raises(InputTypeError) as raised:
        refuse_edges(edges, name="Y")
    assert str(raised.value).startswith(f"Y looks like a list of 4 edges, such as {edges[0]!r}. Make a graph")
    for way in ways:
        assert way in str(raised.value)


LOOPS = [(i, i) for i in range(5)]


@pytest.mark.parametrize(
    "edges",
    [
        [("a", "b"), ("b", "c"), ("c", "a")],
        [("a", "b", 1.5)] * 2,
        [*LOOPS, (0, 1)],
        [(0.0, 1.0)] * 3,
        [(np.int64(0), np.int32(1), 2.5)] * 4,
        [(0, 1)] * 100 + [(0.5, 1)],  # the first hundred decide
        np.array([("a", "b")] * 3),
        (("a", "b"),) * 3,
    ],
)
def test_lists_of_edges(edges):
    with pytest.raises(InputTypeError, match=f"list of {len(edges)} edges"):
        refuse_edges(edges)


@pytest.mark.parametrize(
    "X",
    [
        [("a", "b")],  # one pair
        [("a", "b"), ("c", "d")],  # two pairs, or three triples, are a matrix
        [("a", "b", "c")] * 3,
        [(0, 1, 2, 3)] * 3,
        [(0,)] * 3,
        [(0, 1), (0, 1, 2, 3), (0, 1)],
        [(0, 1), 5, (0, 1)],
        [5, (0, 1), (0, 1)],
        LOOPS,
        [(0, -1)] * 3,
        [(0, 0.5)] * 3,
        [(True, False)] * 3,
        [(np.True_, np.False_)] * 3,
        [(0, None)] * 3,
        [(0, "a"), (0, 0.5), (1, 2)],
        ((0, 1),) * 3,  # numbers are edges in lists of tuples only
        [[0, 1]] * 3,
        np.array([[0, 1]] * 3),
        {"a": 1},
    ],
)
def test_what_may_be_features(X):
    refuse_edges(X)


def test_numbers_are_edges_where_similarities_are_expected():
    for edges in (((0, 1),) * 3, [[0, 1]] * 3, np.array([[0, 1]] * 3)):
        with pytest.raises(InputTypeError, match=r"list of 3 edges, such as \(0, 1\)"):
            refuse_edges(edges, numbers=True)


# Similarities given as features -----------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_ten_rows_are_enough_to_look_like_similarities(form):
    assert looks_like_similarity(form(np.ones((10, 10)) - np.eye(10)))
    assert not looks_like_similarity(form(np.ones((9, 9)) - np.eye(9)))
    one_pair = np.eye(10)
    one_pair[2, 3] = one_pair[3, 2] = 1
    assert looks_like_similarity(form(one_pair))


@pytest.mark.parametrize(
    ("diagonal", "words", "may_be_distances"),
    [
        (0, "X is a symmetric matrix, 12 × 12, with zeros on its diagonal, as the adj", True),
        (2.5, "X is a symmetric matrix, 12 × 12, with 2.5 all along its diagonal, as sim", False),
        ([1.0] * 11 + [2.0], "X is a symmetric matrix, 12 × 12, and not negative, as sim", False),
        ([2.0] + [1.0] * 11, "X is a symmetric matrix, 12 × 12, and not negative, as sim", False),
        ([0.0] * 11 + [2.0], "X is a symmetric matrix, 12 × 12, and not negative, as sim", False),
    ],
)
def test_the_diagonal_says_what_it_may_be(diagonal, words, may_be_distances):
    A = np.full((12, 12), 3.0)
    np.fill_diagonal(A, diagonal)
    for form in (np.asarray, sparse.csr_array):
        with pytest.raises(InputError) as raised:
            refuse_ambiguous(form(A))
        assert str(raised.value).startswith(words)
        assert ("distances" in str(raised.value)) == (may_be_distances and form is np.asarray)
    if may_be_distances:
        A[0, 1] = A[1, 0] = 0  # two samples at no distance are more likely a pair without an edge
        with pytest.raises(InputError) as raised:
            refuse_ambiguous(A)
        assert "distances" not in str(raised.value)
