"""Exact neighbours, whichever of the three finders is at work."""

import numpy as np
import pytest
from scipy import sparse

from symclust.exceptions import InputError
from symclust.graphs._neighbors import Brute, NeighborSearch, SparseProduct, Tree, choose_finder


def by_sorting(X, k):
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    np.fill_diagonal(D, np.inf)
    order = np.lexsort((np.broadcast_to(np.arange(len(X)), D.shape), D))[:, :k]
    return np.take_along_axis(D, order, 1), order


@pytest.mark.parametrize(
    ("d", "form", "finder"),
    [(3, np.asarray, Tree), (30, np.asarray, Brute), (30, sparse.csr_array, SparseProduct)],
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
    monkeypatch.setattr("symclust.graphs._neighbors.ROWS", 7)
    monkeypatch.setattr("symclust.graphs._neighbors.CELLS", 50)
    for part, same in zip(NeighborSearch(X).nearest(5), whole, strict=True):
        np.testing.assert_array_equal(part, same)


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
