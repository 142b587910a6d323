"""Exact neighbours, whichever of the three finders is at work."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_limits

from symclust import SymNMF
from symclust.exceptions import InputError
from symclust.graphs._finders import Brute, KdTree, SparseProduct
from symclust.graphs._neighbors import NeighborSearch, choose_finder


def by_sorting(X, k):
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    np.fill_diagonal(D, np.inf)
    order = np.lexsort((np.broadcast_to(np.arange(len(X)), D.shape), D))[:, :k]
    return np.take_along_axis(D, order, 1), order


@pytest.mark.parametrize(
    ("d", "form", "finder"),
    [(3, np.asarray, KdTree), (30, np.asarray, Brute), (30, sparse.csr_array, SparseProduct)],
)
def test_same_neighbours_as_a_full_sort(d, form, finder):
    X = np.random.default_rng(0).normal(size=(300, d))
    assert isinstance(choose_finder(form(X)), finder)
    distances, neighbors = NeighborSearch(form(X)).nearest(9)
    expected_distances, expected_neighbors = by_sorting(X, 9)
    np.testing.assert_array_equal(neighbors, expected_neighbors)
    np.testing.assert_allclose(distances, expected_distances, rtol=1e-13)


@pytest.mark.parametrize("d", [2, 20])
def test_blocks_of_rows_make_no_difference(d, monkeypatch):
    X = np.random.default_rng(0).normal(size=(100, d))
    whole = NeighborSearch(X).nearest(5)
    for name in ("_neighbors.ROWS", "_finders.ROWS", "_finders.Finder._rows", "_finders.TILE"):
        monkeypatch.setattr(f"symclust.graphs.{name}", 7)
    monkeypatch.setattr("symclust.graphs._neighbors.CELLS", 50)
    for part, same in zip(NeighborSearch(X).nearest(5), whole, strict=True):
        np.testing.assert_array_equal(part, same)


# Few values in few or many columns: grids, binary data, counts, duplicates, constant rows.
tied = st.tuples(
    st.integers(0, 2**32 - 1), st.integers(12, 60), st.sampled_from([1, 2, 5, 12]), st.integers(1, 4)
).map(lambda given: np.random.default_rng(given[0]).integers(0, given[3], given[1:3]).astype(float))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@settings(max_examples=60)
@given(X=tied, k=st.integers(1, 5))
def test_any_number_of_ties_goes_to_the_lower_numbers(form, X, k):
    distances, neighbors = NeighborSearch(form(X)).nearest(k)
    expected_distances, expected_neighbors = by_sorting(X, k)
    np.testing.assert_array_equal(neighbors, expected_neighbors)
    np.testing.assert_allclose(distances, expected_distances, rtol=1e-15)
    D = np.sqrt(((X[:7, None] + 0.25 - X[None]) ** 2).sum(-1))
    order = np.lexsort((np.broadcast_to(np.arange(len(X)), D.shape), D))[:, :k]
    np.testing.assert_array_equal(NeighborSearch(form(X)).nearest(k, form(X[:7] + 0.25))[1], order)


@settings(max_examples=60)
@given(X=tied, k=st.integers(1, 5))
def test_dense_and_sparse_rows_have_the_same_neighbours_whatever_rounding_does(X, k):
    """Tenths are no binary fractions: what ties on paper differs in the last digits."""
    X = X * 0.1 + 0.7 * (X > 1)
    _, dense = NeighborSearch(X).nearest(k)
    np.testing.assert_array_equal(NeighborSearch(sparse.csr_array(X)).nearest(k)[1], dense)


@pytest.mark.parametrize(("d", "form"), [(2, np.asarray), (30, np.asarray), (30, sparse.csr_array)])
def test_thousands_of_equally_distant_rows(d, form, monkeypatch):
    monkeypatch.setattr("symclust.graphs._finders.MANY", 50)
    X = np.zeros((900, d))
    X[300:600, 0] = 1
    X[600:, 1] = 1
    X[:5, 1] = 3
    _, neighbors = NeighborSearch(form(X)).nearest(7)
    np.testing.assert_array_equal(neighbors, by_sorting(X, 7)[1])


@pytest.mark.parametrize("share", [1, 2, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_large_offset_that_rows_have_in_common_hides_nothing(form, share):
    """One column of 1e10, in all rows, in every second or in every third."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 15)) * (rng.random((300, 15)) < 0.5)
    X[::share, 3] = 1e10
    _, neighbors = NeighborSearch(form(X)).nearest(9)
    np.testing.assert_array_equal(neighbors, by_sorting(X, 9)[1])


def test_more_candidates_than_asked_for_give_ties_in_order_of_rows():
    X = np.repeat([[0.0], [1.0], [5.0]], 3, axis=0)
    _, neighbors = NeighborSearch(X).nearest(3)
    assert neighbors.tolist() == [
        [1, 2, 3], [0, 2, 3], [0, 1, 3], [4, 5, 0], [3, 5, 0], [3, 4, 0], [7, 8, 3], [6, 8, 3], [6, 7, 3],
    ]  # fmt: skip


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("d", [1, 30])
def test_a_point_is_not_its_own_neighbour_even_among_many_duplicates(form, d):
    _, neighbors = NeighborSearch(form(np.ones((60, d)))).nearest(10)
    assert not (neighbors == np.arange(60)[:, None]).any()
    assert all(len(set(row)) == 10 for row in neighbors.tolist())


def test_tight_groups_far_apart_keep_their_order():
    """Distances of 1e-6 between points 1e6 from the centre are lost to the expansion, not to differences."""
    group = np.repeat([-1e6, 1e6], 60)[:, None]
    X = group + np.arange(120)[:, None] % 60 * 2.0**-20 * np.ones(40)
    assert isinstance(choose_finder(X), Brute)
    distances, neighbors = NeighborSearch(X).nearest(2)
    expected_distances, expected_neighbors = by_sorting(X, 2)
    np.testing.assert_array_equal(neighbors, expected_neighbors)
    np.testing.assert_array_equal(distances, expected_distances)


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_result_depends_on_no_number_of_threads(threads, dtype, monkeypatch):
    X = np.random.default_rng(0).normal(size=(3000, 40)).astype(dtype)
    expected = NeighborSearch(X).nearest(11)
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    with threadpool_limits(int(threads)):
        again = NeighborSearch(X).nearest(11)
    for values, same in zip(again, expected, strict=True):
        np.testing.assert_array_equal(values, same)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), exponent=st.integers(-140, 140), apart=st.sampled_from([0, 1e2, 1e5]))
def test_single_precision_hides_no_neighbour_in_any_unit(seed, exponent, apart):
    """Two groups far apart lose digits, which the second look in double precision gets back."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 25)) + apart * rng.integers(0, 2, 120)[:, None]
    _, expected = by_sorting(X, 6)
    np.testing.assert_array_equal(NeighborSearch(X * 2.0**exponent).nearest(6)[1], expected)
    rows = rng.permutation(120)[:50]
    np.testing.assert_array_equal(NeighborSearch(X).nearest(6, rows=rows)[1], expected[rows])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_distances_of_near_duplicates_keep_their_digits(form):
    X = np.full((3, 20), 1000.0)
    X[1, 4] += 2.0**-30
    X[2] += 1
    distances, neighbors = NeighborSearch(form(X)).nearest(1)
    assert distances[0, 0] == distances[1, 0] == 2.0**-30
    assert neighbors[:2, 0].tolist() == [1, 0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_fewer_points_than_neighbours(form):
    search = NeighborSearch(form(np.array([[0.0, 1.0], [2.0, 1.0]])))
    assert search.nearest(5)[1].tolist() == [[1], [0]]
    assert search.nearest(5, form(np.array([[1.5, 1.0]])))[1].tolist() == [[1, 0]]
    alone = NeighborSearch(form(np.array([[0.0, 1.0]])))
    assert alone.nearest(5)[0].shape == alone.nearest(5)[1].shape == (1, 0)


def test_neighbours_of_unseen_points_count_a_copy_at_distance_zero():
    X = np.random.default_rng(0).normal(size=(50, 2))
    distances, neighbors = NeighborSearch(X).nearest(3, X[:5].copy())
    np.testing.assert_array_equal(neighbors[:, 0], np.arange(5))
    np.testing.assert_array_equal(distances[:, 0], 0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_distances_that_overflow_are_refused(form):
    fine = form(np.eye(3))
    with pytest.raises(InputError, match=r"1e\+200.*Rescale"):
        NeighborSearch(form(np.array([[1e200], [0.0]])))
    with pytest.raises(InputError, match="overflow"):
        NeighborSearch(fine).nearest(1, form(np.full((1, 3), -1e160)))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_whose_distances_vanish_are_refused(form):
    with pytest.raises(InputError, match=r"vanish: the largest entry is 1e-170.*Rescale"):
        NeighborSearch(form(np.eye(3) * 1e-170))
    NeighborSearch(form(np.zeros((3, 2))))
    NeighborSearch(form(np.eye(3))).nearest(1, form(np.full((1, 3), 1e-170)))


@pytest.mark.parametrize("weights", ["self_tuning", "cosine"])
def test_the_search_is_built_once_for_fit_and_all_blocks_of_predict(weights, monkeypatch):
    built = []

    def counted(X, method):
        built.append(X.shape)
        return choose_finder(X, method)

    monkeypatch.setattr("symclust.graphs._neighbors.choose_finder", counted)
    monkeypatch.setattr("symclust.inputs.placing.ROWS", 10)
    X = np.random.default_rng(0).random((50, 4))
    model = SymNMF(2, affinity_params={"weights": weights}, random_state=0).fit(X)
    labels = model.predict(X[:35] + 0.01)
    assert built == [(50, 4)]
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(X[:35] + 0.01), labels)
    assert len(built) == 2  # the search is not part of the file
