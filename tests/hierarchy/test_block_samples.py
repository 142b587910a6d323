"""Samples in blocks answer as samples in memory do; splits on them are the compiled ones step by step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from symclust.hierarchy import BlockSamples, Samples
from symclust.hierarchy.topics.samples import Sides
from symclust.hierarchy.topics.scores import energy, explained_by_one
from symclust.hierarchy.topics.splits import rank_two

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

from symclust.operators import RowBlocks  # noqa: E402


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set({"scheduler": "synchronous", "symclust.gathered-entries": 0}):
        yield


def documents(seed, n=60, d=25, dtype=float, empty=True):
    """Rows with words of one of three subjects; some rows have none, some columns are nobody's."""
    rng = np.random.RandomState(seed)
    subject = rng.randint(3, size=n)
    likely = np.where(np.arange(d) % 3 == subject[:, None], 0.5, 0.08)
    X = rng.rand(n, d) * (rng.rand(n, d) < likely)
    X[:, 3] = 0
    if empty:
        X[rng.rand(n) < 0.05] = 0
    return sparse.csr_array(X.astype(dtype))


def in_blocks(X, rows=17):
    parts = [X[start : start + rows] for start in range(0, X.shape[0], rows)]
    sizes = np.array([part.shape[0] for part in parts])
    return RowBlocks(tuple(map(dask.delayed, parts)), sizes, X.shape[1], X.dtype)


def test_there_are_few_entries_or_many():
    X = documents(0)
    with dask.config.set({"symclust.gathered-entries": X.nnz}):
        gathered = BlockSamples.of(in_blocks(X))
    assert isinstance(gathered, Samples)
    assert all(map(np.array_equal, gathered.rows, Samples.of(X).rows))
    assert isinstance(BlockSamples.of(in_blocks(X)), BlockSamples)


@given(st.integers(0, 10_000), st.sampled_from([1, 7, 100]))
@settings(max_examples=20, deadline=None)
def test_products_and_order_are_those_in_memory(seed, rows):
    X = documents(seed)
    blocks, whole = BlockSamples.of(in_blocks(X, rows)), Samples.of(X)
    assert blocks.shape == whole.shape
    assert np.array_equal(blocks.features, whole.features)
    assert np.array_equal(blocks.members, whole.members)
    V = np.random.RandomState(seed).rand(whole.shape[1], 2)
    np.testing.assert_allclose(blocks.times(V), whole.times(V), atol=1e-13)
    np.testing.assert_allclose(blocks.total(), whole.total(), atol=1e-12)
    np.testing.assert_allclose(blocks.gram_times(V[:, 0]), whole.gram_times(V[:, 0]), atol=1e-11)
    assert blocks.squared_length(V[:, 0]) == pytest.approx(whole.squared_length(V[:, 0]))


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_parts_of_parts_are_those_in_memory(seed):
    rng = np.random.RandomState(seed)
    X = documents(seed)
    blocks, whole = BlockSamples.of(in_blocks(X)), Samples.of(X)
    for _ in range(2):
        chosen = np.flatnonzero(rng.rand(whole.shape[0]) < 0.6)
        if not chosen.size:
            return
        blocks, whole = blocks.take(chosen), whole.take(chosen)
        for name in ("members", "features", "columns"):
            assert np.array_equal(getattr(blocks, name), getattr(whole, name)), name
    with dask.config.set({"symclust.gathered-entries": 10**6}):
        everything = np.arange(whole.shape[0])
        gathered, same = blocks.take(everything), whole.take(everything)
    for name in ("rows", "transposed"):
        assert all(map(np.array_equal, getattr(gathered, name), getattr(same, name))), name
    assert np.array_equal(gathered.columns, same.columns)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(4))
def test_a_split_is_the_compiled_one(dtype, seed):
    X = documents(seed, n=300, dtype=dtype)
    blocks, whole = BlockSamples.of(in_blocks(X, 70)), Samples.of(X)
    one, other = (rank_two(samples, np.random.RandomState(1)) for samples in (blocks, whole))
    assert np.array_equal(one.side, other.side)
    assert one.n_iter == other.n_iter
    assert one.terms.dtype == one.memberships.dtype == dtype
    tolerance = 1e-10 if dtype == np.float64 else 2e-4
    np.testing.assert_allclose(one.terms, other.terms, atol=tolerance)
    np.testing.assert_allclose(one.memberships, other.memberships, atol=10 * tolerance)


def test_a_split_that_ends_at_its_limit():
    X = documents(5, n=200)
    blocks, whole = BlockSamples.of(in_blocks(X, 70)), Samples.of(X)
    for max_iter in (1, 3):
        options = {"tol": 0.0, "max_iter": max_iter}
        one, other = (rank_two(s, np.random.RandomState(1), **options) for s in (blocks, whole))
        assert one.n_iter == other.n_iter == max_iter
        np.testing.assert_allclose(one.terms, other.terms, atol=1e-10)


def test_parts_without_a_common_feature():
    X = sparse.csr_array(np.kron(np.eye(2), np.ones((1, 4)))[np.arange(12) // 7])
    found = [rank_two(s, np.random.RandomState(0)) for s in (BlockSamples.of(in_blocks(X, 5)), Samples.of(X))]
    assert np.array_equal(found[0].side, found[1].side)
    assert len(set(found[0].side[:7])) == len(set(found[0].side[7:])) == 1


def test_an_empty_side_is_filled_by_the_first_vector():
    U = np.array([[1.0, 2.0], [3.0, 1.0]])
    sides = Sides(np.eye(2), np.zeros(2, dtype=bool))
    assert np.array_equal(sides(U), [[1, 0], [3, 0]])
    assert np.array_equal(sides.without_empty(np.array([5.0, 0.0]))(U), [[1, 2], [3, 1]])


def test_samples_of_one_direction_are_not_split():
    X = sparse.csr_array(np.outer(np.arange(1.0, 9.0), [1.0, 2.0, 3.0]))
    assert rank_two(BlockSamples.of(in_blocks(X, 3)), np.random.RandomState(0)) is None


def test_scores_are_those_in_memory():
    X = documents(2, n=200)
    blocks, whole = BlockSamples.of(in_blocks(X, 50)), Samples.of(X)
    assert explained_by_one(blocks) == pytest.approx(explained_by_one(whole))
    halves = rank_two(whole, np.random.RandomState(0))
    weights = (np.ones(whole.shape[1]), *halves.terms.T)
    assert energy(*weights, blocks, halves) == pytest.approx(energy(*weights, whole, halves))
