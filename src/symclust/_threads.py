"""How many threads run, and the rule that keeps results independent of their number.

The rule: BLAS runs on one thread while a solver runs, and everything parallel is split into blocks whose
borders depend on the data alone. A block's arithmetic is then the same on any number of threads, to the bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["available_threads", "map_blocks", "single_threaded_blas", "split"]


def available_threads() -> int:
    """Threads the kernels use: ``OMP_NUM_THREADS`` if set, otherwise the processors this process may use."""
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _controller() -> ThreadpoolController:
    # Scanning the loaded libraries takes milliseconds: do it once.
    return ThreadpoolController()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread, so that it neither fights our threads nor changes bits with their number."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="symclust")


def map_blocks(function: Callable[[slice], Any], blocks: Iterable[slice]) -> list[Any]:
    """Apply `function` to every block, on several threads; NumPy releases the GIL inside products."""
    blocks = list(blocks)
    threads = available_threads()
    if threads == 1 or len(blocks) < 2:
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
