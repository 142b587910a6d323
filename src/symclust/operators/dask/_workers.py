"""Blocks of A that lie with the workers of a Dask cluster, and tasks that go over all of them.

Every wait has an end. Blocks are results of a graph of tasks, so that the scheduler makes those of a lost
worker again on another. Data sent to the workers for one pass have no such history: lost ones are
sent again. Errors of distributed about a client, a scheduler or workers that are gone become a
`WorkerError`, for blocks of rows too.
"""

from __future__ import annotations

import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from symclust._optional import need
from symclust._threads import split
from symclust._types import Array
from symclust.exceptions import InputTypeError, SymclustError, WorkerError

ATTEMPTS = 5  # passes that are begun anew when what was sent for them is lost
PIECE_BYTES = 1 << 20  # smaller pieces of H would cost more messages than they spare
MOST_PIECES = 64


# Losses -----------------------------------------------------------------------------------------------------


def is_loss(error: Exception, client: Any) -> bool:
    """Whether an error comes from a client, a scheduler or workers that are gone, and not from a task."""
    from distributed import CancelledError, KilledWorker
    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError

    if isinstance(error, SymclustError):
        return False
    # A call of a closed client may end in any error, such as attributes that are None.
    known = isinstance(error, CancelledError | CommClosedError | ClosedClientError | KilledWorker)
    return known or (client is not None and not is_open(client))


def is_open(client: Any) -> bool:
    """Whether a client has its scheduler."""
    return getattr(client, "status", "running") == "running"


def is_closed(client: Any) -> bool:
    """Whether a client has gone for good, and with it what its workers had."""
    return getattr(client, "status", None) in ("closing", "closed")


@contextmanager
def naming_losses(client: Any) -> Iterator[None]:
    """Raise a `WorkerError` for what a lost client, scheduler or worker causes; other errors as they are."""
    try:
        yield
    except Exception as error:
        if "distributed" not in sys.modules or not is_loss(error, client):
            raise
        raise WorkerError(about_loss(error, client)) from error


def about_loss(error: Exception, client: Any) -> str:
    """Message of a loss, with its cure."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return (
            f"One task ({error.task}) has ended several workers. Often their memory is too small: cut the "
            "rows into more blocks, or give workers more memory."
        )
    reason = _in_words(error)
    if client is None or is_open(client):
        return f"The data of the workers were lost ({reason}). Look at their logs, and begin again."
    return (
        f"The cluster is lost: its client was closed, or the scheduler has gone ({reason}). Make another "
        "client, distributed.Client(...), and begin again."
    )


def _in_words(error: Exception | None) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


# Blocks -----------------------------------------------------------------------------------------------------


def hold_blocks(graph: Sequence[Any], client: Any, timeout: float) -> HeldHere | HeldByWorkers:
    """Delayed blocks, made and kept by the client given or in use, else in this process."""
    client = client if client is not None else client_in_use()
    return HeldHere(graph) if client is None else HeldByWorkers(graph, client, timeout)


def client_in_use() -> Any:
    """The client in use, or None."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


class HeldHere:
    """Blocks in this process, without a cluster."""

    def __init__(self, graph: Sequence[Any]) -> None:
        self._blocks = list(need("dask", "dask").compute(*graph, scheduler="threads"))

    def derive(self, function: Callable[..., Any], shared: Array, others: Mapping[int, Any]) -> HeldHere:
        """The blocks ``function(block, shared, other)`` of those that there is an `other` for."""
        derived = HeldHere([])
        derived._blocks = [function(self._blocks[number], shared, other) for number, other in others.items()]
        return derived

    def __len__(self) -> int:
        return len(self._blocks)

    def map(self, function: Callable[..., Any], shared: Array | None = None, *others: Sequence[Any]) -> list:
        """``function(block, shared, *other)`` for each block, one after the other."""
        return [function(block, shared, *rest) for block, *rest in zip(self._blocks, *others, strict=True)]

    def compare(self, cut: Callable, gap: Callable, rows: Sequence[slice], d: Sequence[Array]) -> list:
        """``gap(cut(block_i, rows_j), cut(block_j, rows_i), d_i, d_j)``, for each i all j ≥ i."""
        B = self._blocks
        return [
            [gap(cut(B[i], rows[j]), cut(B[j], rows[i]), d[i], d[j]) for j in range(i, len(B))]
            for i in range(len(B))
        ]


class HeldByWorkers:
    """Blocks in the memory of workers; one that is lost for good is made again from `graph`."""

    def __init__(
        self, graph: Sequence[Any], client: Any, timeout: float, blocks: list[Any] | None = None
    ) -> None:
        _check_waits(client)
        self._graph, self._client, self._timeout = list(graph), client, float(timeout)
        with naming_losses(client):
            self._blocks = client.compute(self._graph) if blocks is None else blocks
        self._homes: dict[Any, str | None] = {}  # the worker that keeps the block of a key

    def __len__(self) -> int:
        return len(self._graph)

    def __reduce__(self) -> Any:
        return _held_again, (self._graph, self._timeout)

    def map(self, function: Callable[..., Any], shared: Array | None = None, *others: Sequence[Any]) -> list:
        """Send `shared` once, in pieces that workers take from each other, and go over all blocks."""
        pieces = None if shared is None else [encode(shared[rows]) for rows in _pieces(shared, len(self))]

        def submit(end: float) -> list:
            sent = [] if pieces is None else self._send(pieces, end)
            token = uuid.uuid4().hex
            per_block = list(zip(*others, strict=True)) if others else [()] * len(self)
            at_home = self._at_home(end)
            return [
                self._client.submit(_call, function, block, own, token, sent, pure=False, **where)
                for block, own, where in zip(self._blocks, per_block, at_home, strict=True)
            ]

        return self._outlast_losses(submit)

    def derive(self, function: Callable[..., Any], shared: Array, others: Mapping[int, Any]) -> HeldByWorkers:
        """Make the blocks on the workers that hold their parts; the graph is for when all are lost."""
        self._take_open_client()
        delayed, submit = need("dask", "dask").delayed, partial(self._client.submit, pure=False)
        once = delayed(shared)
        graph = [delayed(function)(self._graph[number], once, other) for number, other in others.items()]
        with naming_losses(self._client):
            sent = submit(np.asarray, shared)  # a task, which is done again if it is lost
            blocks = [submit(function, self._blocks[number], sent, other) for number, other in others.items()]
        return HeldByWorkers(graph, self._client, self._timeout, blocks)

    def compare(self, cut: Callable, gap: Callable, rows: Sequence[slice], d: Sequence[Array]) -> list:
        """Compare the pairs of one block with all others at a time: so many tasks at once, and no more."""

        def compare_with(i: int, end: float) -> list:
            submit, B = partial(self._client.submit, pure=False), self._blocks
            return [
                submit(gap, submit(cut, B[i], rows[j]), submit(cut, B[j], rows[i]), d[i], d[j])
                for j in range(i, len(self))
            ]

        return [self._outlast_losses(partial(compare_with, i)) for i in range(len(self))]

    def _send(self, pieces: list[Any], end: float) -> list:
        """Give each piece to a worker.

        No copies are made for all workers: the wait for one that is lost meanwhile would have no end.
        Workers take the pieces that they lack from each other.
        """
        return self._wait(lambda: self._client.scatter(pieces, hash=False, asynchronous=True), end)

    def _at_home(self, end: float) -> list[dict[str, Any]]:
        """For each block the options that run its task on the worker that keeps it, as long as it lives.

        By default the scheduler copies blocks to idle workers: twice the bytes, and the memory for them.
        """
        keys = [block.key for block in self._blocks]
        found = self._wait(lambda: self._client.scheduler.who_has(keys=keys), end)
        for key in keys:
            if self._homes.get(key) not in found.get(key, ()):
                self._homes[key] = min(found.get(key, ()), default=None)
        homes = [self._homes[key] for key in keys]
        return [{} if home is None else {"workers": [home], "allow_other_workers": True} for home in homes]

    def _wait(self, begin: Callable[[], Any], end: float) -> Any:
        return self._client.sync(begin, callback_timeout=max(end - time.monotonic(), 0.01))

    def _outlast_losses(self, submit: Callable[[float], list]) -> list:
        """The results of tasks, which are submitted again if the data sent for them are lost."""
        from distributed import KilledWorker

        end = time.monotonic() + self._timeout
        last: Exception | None = None
        for attempt in range(ATTEMPTS):
            try:
                self._take_open_client()
                if attempt:
                    self._make_lost_blocks()
                tasks = submit(end)
                return self._wait(partial(self._client.gather, tasks, asynchronous=True), end)
            except KilledWorker as error:
                raise WorkerError(about_loss(error, self._client)) from error
            except Exception as error:  # a TimeoutError is an OSError
                if not (isinstance(error, OSError) or is_loss(error, self._client)):
                    raise
                if any(block.status == "error" for block in self._blocks):
                    raise  # no worker was lost: the blocks cannot be made, such as without their file
                last = error
            if time.monotonic() >= end:
                break
        raise WorkerError(self._about(last)) from last

    def _take_open_client(self) -> None:
        """Make the blocks again by the client in use if the one that had them was closed."""
        if not is_closed(self._client):
            return
        client = client_in_use()
        if client is None or client is self._client:
            raise WorkerError(
                f"The client that kept the {len(self)} blocks of A was closed, or has lost its scheduler. "
                "Make another one, distributed.Client(...): then they are made again. Or make the OnDask "
                "again."
            )
        _check_waits(client)
        self._client, self._homes = client, {}
        with naming_losses(client):
            self._blocks = client.compute(self._graph)

    def _make_lost_blocks(self) -> None:
        """Make all blocks again if one of them was lost together with its history, as by a restart."""
        if any(block.status in ("cancelled", "lost") for block in self._blocks):
            self._blocks = self._client.compute(self._graph)

    def _about(self, error: Exception | None) -> str:
        if error is not None and not is_open(self._client):
            return about_loss(error, self._client)
        return (
            f"The workers of {self._client!r} gave no answer about the {len(self)} blocks of A within "
            f"timeout={self._timeout:g} seconds or {ATTEMPTS} attempts ({_in_words(error)}). Look "
            "whether there are workers and what they log; for blocks that take longer give a larger "
            "timeout to OnDask."
        )


def _check_waits(client: Any) -> None:
    if getattr(client, "asynchronous", False):
        raise InputTypeError(
            "The client of the cluster is asynchronous, and fits wait for answers. Make it with "
            "Client(address) outside of coroutines."
        )


def _held_again(graph: Sequence[Any], timeout: float) -> HeldHere | HeldByWorkers:
    return hold_blocks(graph, None, timeout)


# Data on the way --------------------------------------------------------------------------------------------


def _pieces(shared: Array, n_blocks: int) -> list[slice]:
    wanted = min(-(-shared.nbytes // PIECE_BYTES), n_blocks, MOST_PIECES)
    return list(split(len(shared), -(-len(shared) // max(wanted, 1))))


def encode(H: Array) -> Any:
    """H, or its nonzeros by rows if they take fewer bytes."""
    if H.ndim != 2 or encoded_bytes(len(H), H.shape[1], int(np.count_nonzero(H)), H.itemsize) >= H.nbytes:
        return H
    rows, columns = np.nonzero(H)
    size = np.min_scalar_type(H.shape[1])  # holds numbers of columns, and how many of a row are nonzero
    counts = np.bincount(rows, minlength=len(H))
    return H.shape[1], counts.astype(size), columns.astype(size), H[rows, columns]


def encoded_bytes(n: int, width: int, nonzeros: float, itemsize: int) -> float:
    """The bytes of the nonzeros of an n × width array: columns, values, and a count for each row."""
    size = np.min_scalar_type(width).itemsize
    return nonzeros * (itemsize + size) + n * size


def decode(pieces: Sequence[Any]) -> Array:
    """The array that was sent in pieces."""
    if len(pieces) == 1 and isinstance(pieces[0], np.ndarray):
        return pieces[0]
    return np.concatenate([_decode(piece) for piece in pieces])


def _decode(piece: Any) -> Array:
    if isinstance(piece, np.ndarray):
        return piece
    width, counts, columns, values = piece
    H = np.zeros((len(counts), width), dtype=values.dtype)
    H[np.repeat(np.arange(len(counts)), counts), columns] = values
    return H


# On workers -------------------------------------------------------------------------------------------------

_lock = threading.Lock()
_latest: dict[str, Array] = {}  # what was sent last, put together once for all blocks of a worker


def _call(function: Callable[..., Any], block: Any, others: tuple, token: str, pieces: list[Any]) -> Any:
    return function(block, _put_together(token, pieces) if pieces else None, *others)


def _put_together(token: str, pieces: list[Any]) -> Array:
    with _lock:
        if token not in _latest:
            _latest.clear()
            _latest[token] = decode(pieces)
        return _latest[token]
