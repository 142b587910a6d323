"""Rows of a Dask array, block by block, on whatever scheduler Dask has: threads, or a cluster of workers.

Results of a block stay where they were made, and are made again from their graph if a worker is lost. Data
for a pass over all blocks are a task of their own, so that they leave the caller once and travel
between workers; what comes back is added up on the workers first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Self
from uuid import uuid4

import numpy as np

from symclust._optional import Lazy
from symclust._threads import checkpoint
from symclust._types import Array
from symclust.exceptions import InputError, WorkerError
from symclust.operators.dask._workers import client_in_use, is_closed, naming_losses
from symclust.validation import check_number, float_dtype, is_a

GATHERED = 1 << 25  # entries up to which rows are brought to the caller: 0.8 GB by rows and by columns
ADDED = 8  # results that one task adds up
dask: Any = Lazy("dask", "dask")


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array, found out without importing Dask."""
    return is_a(X, "dask", "Array")


def gathered_entries() -> int:
    """Most entries that may come to the caller: ``symclust.gathered-entries`` of Dask's configuration."""
    limit = dask.config.get("symclust.gathered-entries", GATHERED)
    check_number("symclust.gathered-entries", limit, least=0, whole=True)
    return int(limit)


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """One object for each block of rows: the rows themselves, or what was made of them."""

    blocks: tuple[Any, ...]  # Delayed: on their workers, or still to be made
    sizes: Array  # rows of each block
    width: int  # columns of the array that the rows are from
    dtype: np.dtype[Any]
    client: Any = None  # whose workers have the objects; None while they are still to be made

    @classmethod
    def of(cls, X: Any) -> Self:
        """The rows of a Dask array of two dimensions; blocks of columns are joined."""
        if X.ndim != 2:
            raise InputError(
                f"X is a Dask array of {X.ndim} dimensions; expected two, one row per sample. Texts "
                "become rows of counts first, for example by a CountVectorizer of a fixed vocabulary."
            )
        X = _with_known_rows(X)
        if 0 in X.shape:
            raise InputError(f"X is a Dask array of shape {X.shape}: there is nothing in it.")
        X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
        pairs = [(block, size) for block, size in zip(X.to_delayed()[:, 0], X.chunks[0], strict=True) if size]
        sizes = np.array([size for _, size in pairs])
        blocks = tuple(block for block, _ in pairs)
        return cls(blocks, sizes, X.shape[1], float_dtype(X.dtype))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows of all blocks, and columns."""
        return int(self.sizes.sum()), self.width

    @property
    def starts(self) -> Array:
        """Number of the first row of each block."""
        return np.cumsum(self.sizes) - self.sizes

    def map(self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] = ()) -> RowBlocks:
        """The objects ``function(block, *each[b], *shared)``, where they are made.

        Entries of `each` may be objects of another `RowBlocks`.
        """
        with naming_losses(self._client_now()):
            blocks = dask.persist(*self._tasks(function, shared, each))
        return replace(self, blocks=blocks, client=client_in_use())

    def numbered(self, function: Callable[..., Any], *shared: Any) -> RowBlocks:
        """The objects ``function(block, start, *shared)``, with the number of a block's first row."""
        return self.map(function, *shared, each=[(int(start),) for start in self.starts])

    def gather(self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] = ()) -> list[Any]:
        """``function(block, *each[b], *shared)`` of all blocks to the caller."""
        checkpoint()
        with naming_losses(self._client_now()):
            return list(dask.compute(*self._tasks(function, shared, each)))

    def sum(
        self, function: Callable[..., tuple[Any, ...]], *shared: Any, each: Sequence[Any] = ()
    ) -> tuple[Any, ...]:
        """The sums of the tuples ``function(block, *each[b], *shared)``, added up on the workers.

        The order is always the same, however fast each block is.
        """
        checkpoint()
        tasks, add = self._tasks(function, shared, each), dask.delayed(_added, pure=False)
        while len(tasks) > 1:
            tasks = [add(tasks[place : place + ADDED]) for place in range(0, len(tasks), ADDED)]
        with naming_losses(self._client_now()):
            return dask.compute(tasks[0])[0]

    def chosen(self, numbers: Array) -> RowBlocks:
        """Some of the blocks."""
        return replace(
            self, blocks=tuple(self.blocks[number] for number in numbers), sizes=self.sizes[numbers]
        )

    def resized(self, sizes: Array) -> RowBlocks:
        """The blocks as of so many rows, without those that have none."""
        return replace(self, sizes=np.asarray(sizes)).chosen(np.flatnonzero(sizes))

    def split(self, rows: Array) -> list[Array]:
        """An array with an entry for each row as one part for each block."""
        return np.split(rows, np.cumsum(self.sizes)[:-1])

    def _client_now(self) -> Any:
        """The client in use; objects of a closed client are refused, since a wait for them would not end."""
        if is_closed(self.client):
            raise WorkerError(
                f"The client whose workers had the {len(self.blocks)} blocks of rows was closed, or has lost "
                "its scheduler. Make another client, distributed.Client(...), and begin again."
            )
        return client_in_use()

    def _tasks(self, function: Callable[..., Any], shared: Any, each: Sequence[Any]) -> list[Any]:
        # One task for all that is shared, under a key of its own: hashing it would cost more than sending it.
        once = dask.delayed(shared, name=f"shared-{uuid4().hex}", traverse=False) if shared else ()
        call, each = dask.delayed(_call, pure=False), each or [()] * len(self.blocks)
        return [call(function, block, own, once) for block, own in zip(self.blocks, each, strict=True)]


def _call(function: Callable[..., Any], block: Any, own: tuple[Any, ...], shared: tuple[Any, ...]) -> Any:
    return function(block, *own, *shared)


def over_blocks(X: Any, function: Callable[..., Any], shared: Any) -> Any:
    """The Dask array of ``function(rows, shared)``, of the shape of X and computed lazily."""
    once = dask.delayed(shared, name=f"shared-{uuid4().hex}", traverse=False)
    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    meta = X._meta.astype(float_dtype(X.dtype))
    return X.map_blocks(function, once, meta=meta, dtype=meta.dtype)


def _with_known_rows(X: Any) -> Any:
    """X with numbers of rows: arrays made of tables lack them."""
    with naming_losses(client_in_use()):
        return X.compute_chunk_sizes() if np.isnan(X.shape).any() else X


def _added(results: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    return reduce(lambda one, other: tuple(a + b for a, b in zip(one, other, strict=True)), results)
