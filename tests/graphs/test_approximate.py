"""Approximate neighbours: how many are found, that they repeat, and when they are not used."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_limits

from symclust.exceptions import CombinationError, MissingExtraError, OptionError
from symclust.graphs import NearestNeighbors, nearest_neighbors
from symclust.graphs import _approximate as approximate
from symclust.graphs import _neighbors as neighbors_module
from symclust.graphs._finders import Brute, KdTree
from symclust.graphs._neighbors import NeighborSearch, choose_finder

needs_faiss = pytest.mark.skipif(not approximate.has_faiss(), reason="the extra `ann` is not installed")


def mixture(n, d, n_clusters=20, seed=0):
    """Clusters whose widths differ by a factor of ten."""
    rng = np.random.default_rng(seed)
    centers = 3 * rng.normal(size=(n_clusters, d))
    widths = np.exp(rng.uniform(np.log(0.2), np.log(2), n_clusters))
    labels = rng.integers(n_clusters, size=n)
    return centers[labels] + widths[labels, None] * rng.normal(size=(n, d))


def recall(found, true):
    return np.mean([np.isin(row, others).mean() for row, others in zip(true, found, strict=True)])


@pytest.fixture(params=[(6000, 30), (5000, 12)], ids=["30 features", "12 features"])
def samples(request):
    return mixture(*request.param)


@needs_faiss
def test_most_neighbours_are_found_and_their_distances_are_exact(samples):
    distances, neighbors = NeighborSearch(samples, method="approximate").nearest(13)
    _, true = NeighborSearch(samples).nearest(13)
    assert recall(neighbors, true) > 0.97
    plain = np.linalg.norm(samples[:, None] - samples[neighbors], axis=2)
    np.testing.assert_allclose(distances, plain, rtol=1e-12)
    assert (np.diff(distances, axis=1) >= 0).all()
    assert (neighbors != np.arange(len(samples))[:, None]).all()
    assert all(len(set(row)) == 13 for row in neighbors.tolist())


@needs_faiss
def test_the_recall_that_was_measured_on_a_sample_is_that_of_all(samples):
    finder = choose_finder(samples, "approximate")
    _, neighbors = NeighborSearch(samples, method="approximate").nearest(13)
    _, true = NeighborSearch(samples).nearest(13)
    assert finder.recall >= approximate.RECALL
    assert recall(neighbors, true) == pytest.approx(finder.recall, abs=0.02)


@needs_faiss
@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_result_depends_on_neither_the_run_nor_the_threads(samples, threads, monkeypatch):
    expected = NeighborSearch(samples, method="approximate").nearest(13)
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    with threadpool_limits(int(threads)):
        again = NeighborSearch(samples, method="approximate").nearest(13)
    for values, same in zip(again, expected, strict=True):
        np.testing.assert_array_equal(values, same)


@needs_faiss
def test_unseen_samples_find_their_neighbours(samples):
    new = mixture(300, samples.shape[1]) + 0.01
    _, neighbors = NeighborSearch(samples, method="approximate").nearest(9, new)
    _, true = NeighborSearch(samples).nearest(9, new)
    assert recall(neighbors, true) > 0.95


@needs_faiss
@pytest.mark.parametrize("scale", [1e-30, 1e100])
def test_the_unit_of_the_samples_does_not_matter(scale):
    X = mixture(2000, 20)
    _, expected = NeighborSearch(X, method="approximate").nearest(5)
    _, neighbors = NeighborSearch(scale * X + 5 * scale, method="approximate").nearest(5)
    assert recall(neighbors, expected) > 0.97


@needs_faiss
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 200), values=st.integers(1, 3))
def test_few_rows_and_many_duplicates_give_as_many_neighbours_as_asked_for(seed, n, values):
    X = np.random.default_rng(seed).integers(0, values, (n, 3)).astype(float)
    distances, neighbors = NeighborSearch(X, method="approximate").nearest(4)
    true, _ = NeighborSearch(X).nearest(4)
    assert neighbors.shape == (n, min(4, n - 1))
    assert ((neighbors >= 0) & (neighbors < n) & (neighbors != np.arange(n)[:, None])).all()
    # Up to 127 rows make one list, which is all rows.
    if n < 2 * approximate.LEAST_ROWS:
        np.testing.assert_allclose(distances, true, atol=1e-12)


@needs_faiss
def test_rows_whose_lists_are_too_short_are_compared_with_all():
    X = np.concatenate([mixture(3000, 10), 1e3 + np.arange(3)[:, None] * np.ones(10)])
    finder = choose_finder(X, "approximate")
    found = finder.candidates(X[-3:], 3000)
    assert all(len(set(row)) == 3000 and min(row) >= 0 for row in found.tolist())
    assert (found >= 3000).sum() == 9


# What "auto" chooses ----------------------------------------------------------------------------------------


@needs_faiss
def test_auto_is_approximate_for_many_clustered_samples_only(monkeypatch):
    monkeypatch.setattr(neighbors_module, "LARGE", 5000)
    X = mixture(6000, 30)
    assert isinstance(choose_finder(X, "auto"), approximate.InvertedLists)
    assert isinstance(choose_finder(X[:4999], "auto"), Brute)
    assert isinstance(choose_finder(X[:, :3], "auto"), KdTree)
    assert isinstance(choose_finder(X, "exact"), Brute)
    # Samples that fill 60 dimensions evenly have neighbours in all lists.
    assert isinstance(choose_finder(np.random.default_rng(0).normal(size=(6000, 60)), "auto"), Brute)


def test_without_the_library_auto_is_exact_and_approximate_says_what_to_install(monkeypatch):
    monkeypatch.setattr(neighbors_module, "LARGE", 50)
    monkeypatch.setitem(sys.modules, "faiss", None)
    X = mixture(200, 20)
    auto, exact = (nearest_neighbors(X, method=method) for method in ("auto", "exact"))
    assert (auto != exact).nnz == 0
    with pytest.raises(MissingExtraError, match=r"'exact'.*symclust\[ann\]"):
        nearest_neighbors(X, method="approximate")


@needs_faiss
@pytest.mark.parametrize("weights", ["self_tuning", "gaussian", "cosine"])
def test_every_weight_takes_the_method(weights):
    X = mixture(3000, 20)
    graphs = [nearest_neighbors(X, weights=weights, method=method) for method in ("exact", "approximate")]
    pairs = [set(zip(*graph.nonzero(), strict=True)) for graph in graphs]
    assert len(pairs[0] & pairs[1]) > 0.95 * len(pairs[0])
    rule = NearestNeighbors(weights=weights, method="approximate")
    rule.fit(X[:2900])
    assert isinstance(rule._rule._search._search._finder, approximate.InvertedLists)
    assert rule.extend(X[2900:]).shape == (100, 2900)


@needs_faiss
def test_sparse_samples_are_refused():
    with pytest.raises(CombinationError, match=r"dense samples.*X\.toarray"):
        nearest_neighbors(sparse.random_array((50, 20), density=0.2, rng=0), method="approximate")


def test_an_unknown_method_is_refused():
    with pytest.raises(OptionError, match=r"method='fast'.*'approximate', 'auto', 'exact'"):
        nearest_neighbors(mixture(20, 3), method="fast")
