"""Blocks of rows of a Dask array: what is read, what is sent, what is added up in which order."""

import numpy as np
import pytest

from symclust.exceptions import InputError, OptionError
from symclust.operators import RowBlocks, gathered_entries, is_dask

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


X = np.arange(20.0).reshape(10, 2)


def test_blocks_of_columns_are_joined():
    blocks = RowBlocks.of(da.from_array(X, chunks=(4, 1)))
    assert blocks.shape == X.shape
    assert blocks.sizes.tolist() == [4, 4, 2]
    assert blocks.starts.tolist() == [0, 4, 8]
    assert np.array_equal(np.concatenate(blocks.gather(np.asarray)), X)


def test_rows_that_nobody_has_counted():
    array = da.from_array(X, chunks=(4, 2))
    blocks = RowBlocks.of(array[array[:, 0] > 3])
    assert blocks.sizes.tolist() == [2, 4, 2]


def test_blocks_without_rows_are_left_out():
    blocks = RowBlocks.of(da.concatenate([da.zeros((0, 2)), da.from_array(X, chunks=(5, 2))]))
    assert blocks.sizes.tolist() == [5, 5]


@pytest.mark.parametrize("shape", [(5,), (2, 2, 2), (0, 3)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(InputError, match="Dask array of"):
        RowBlocks.of(da.zeros(shape))


def test_what_each_block_gets_and_what_all_get():
    blocks = RowBlocks.of(da.from_array(X, chunks=(4, 2)))
    lengths = blocks.map(len)
    weighted = blocks.gather(
        lambda rows, own, n, weight: (own, n, weight * rows.sum()),
        10.0,
        each=list(zip("abc", lengths.blocks, strict=True)),
    )
    assert [(own, n) for own, n, _ in weighted] == [("a", 4), ("b", 4), ("c", 2)]
    assert sum(value for *_, value in weighted) == 10 * X.sum()


@pytest.mark.parametrize("rows", [1, 3, 10])
def test_sums_are_added_in_one_order(rows, monkeypatch):
    monkeypatch.setattr("symclust.operators.dask._blocks.ADDED", 2)
    blocks = RowBlocks.of(da.from_array(X, chunks=(rows, 2)))
    total, count = blocks.sum(lambda part, power: ((part**power).sum(axis=0), len(part)), 2)
    assert count == 10
    np.testing.assert_allclose(total, (X**2).sum(axis=0))


def test_what_is_shared_is_one_task_of_the_graph():
    blocks = RowBlocks.of(da.from_array(X, chunks=(1, 2)))
    big = np.zeros(1000)
    tasks = blocks._tasks(len, (big,), ())
    shared = {key for task in tasks for key in dict(task.__dask_graph__()) if str(key).startswith("shared-")}
    assert len(shared) == 1


def test_the_limit_is_one_of_dask_config():
    assert gathered_entries() == 1 << 25
    with dask.config.set({"symclust.gathered-entries": 7}):
        assert gathered_entries() == 7
    with dask.config.set({"symclust.gathered-entries": -1}), pytest.raises(OptionError, match="gathered"):
        gathered_entries()


def test_only_dask_arrays_are_dask_arrays():
    assert is_dask(da.zeros(3))
    assert not is_dask(np.zeros(3))
