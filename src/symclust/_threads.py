"""How many threads run, and the rule that keeps results independent of their number.

The rule: BLAS runs on one thread while a solver runs, and everything parallel is split into blocks whose
borders depend on the data alone. A block's arithmetic is then the same on any number of threads, to the bit.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["available_threads", "map_blocks", "single_threaded_blas", "split"]

_POOL_NAME = "symclust"


def available_threads() -> int:
    """Threads the kernels use: ``OMP_NUM_THREADS`` if set, otherwise the processors this process may use."""
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _BlasLimit:
    """Holds BLAS to one thread from the first entry to the last exit, whichever threads they come from.

    The limit belongs to the process: two threads that entered and left a plain limit in turn would restore
    it in the wrong order.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._depth += 1

    def leave(self) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._limit.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    # Scanning the loaded libraries takes milliseconds: do it once.
    return ThreadpoolController()


_blas_limit = _BlasLimit()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread, so that it neither fights our threads nor changes bits with their number."""
    _blas_limit.enter()
    try:
        yield
    finally:
        _blas_limit.leave()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix=_POOL_NAME)


def map_blocks(function: Callable[[Any], Any], blocks: Iterable[Any]) -> list[Any]:
    """Apply `function` to every block, on several threads; NumPy releases the GIL inside products."""
    blocks = list(blocks)
    threads = available_threads()
    # A thread of the pool that waited for the pool could wait for itself: nested calls run in place.
    nested = threading.current_thread().name.startswith(_POOL_NAME)
    if threads == 1 or len(blocks) < 2 or nested:
        return [function(block) for block in blocks]
    return list(_pool(threads).map(function, blocks))


def split(n: int, size: int) -> Iterator[slice]:
    """Cut ``range(n)`` into slices of `size`.

    Examples
    --------
    >>> from symclust._threads import split
    >>> list(split(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
