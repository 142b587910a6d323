"""How many threads run, and the rule that keeps results independent of their number.

The rule: BLAS runs on one thread while a solver runs, and everything parallel is split into blocks whose
borders depend on the data alone. A block's arithmetic is then the same on any number of threads, to the bit.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any

import threadpoolctl

__all__ = [
    "available_threads",
    "checkpoint",
    "map_blocks",
    "single_threaded_blas",
    "single_threaded_libraries",
    "split",
]

_POOL_NAME = "symclust"
_LOOK_UP = 0.1  # seconds


class _Process:
    """What a fork changes: a child starts with one thread, whatever its parent had."""

    forked = False


def available_threads() -> int:
    """Threads the kernels use: ``OMP_NUM_THREADS`` if set, otherwise the processors this process may use.

    A forked child has one: OpenMP and thread pools that the parent has used do not survive a fork.
    """
    if _Process.forked:
        return 1
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Holder:
    """One block that holds BLAS to one thread."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()


class _BlasLimit:
    """Holds BLAS to one thread from the first entry to the last exit, whichever threads they come from.

    The limit belongs to the process: two threads that entered and left a plain limit in turn would restore
    it in the wrong order. Holders are known weakly: one that an interrupt has kept from leaving is forgotten.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders: weakref.WeakSet[_Holder] = weakref.WeakSet()
        self._limit: Any = None

    def enter(self, holder: _Holder) -> None:
        with self._lock:
            if not self._holders:
                self._restore()
                with _in_control_of_blas():
                    self._limit = _libraries("blas").limit(limits=1)
            self._holders.add(holder)

    def leave(self, holder: _Holder) -> None:
        with self._lock:
            self._holders.discard(holder)
            if not self._holders:
                self._restore()

    def after_fork(self) -> None:
        """Forget the holders of threads that the child does not have, and a lock one of them may hold."""
        self._lock = threading.Lock()
        for holder in [h for h in self._holders if h.thread != threading.get_ident()]:
            self._holders.discard(holder)
        if not self._holders:
            self._restore()

    def _restore(self) -> None:
        if self._limit is not None:
            with _in_control_of_blas():
                self._limit.restore_original_limits()
            self._limit = None


def _libraries(kind: str) -> Any:
    # Scanning the loaded libraries takes milliseconds: do it again only after something has been imported.
    return _scan(len(sys.modules), kind)


@lru_cache(maxsize=2)
def _scan(n_modules: int, kind: str) -> Any:
    # A limit puts back the numbers of all libraries its controller knows, not only of those it has changed.
    return threadpoolctl.ThreadpoolController().select(user_api=kind)


@contextmanager
def _in_control_of_blas() -> Iterator[None]:
    # From version 3.8 on, threadpoolctl lets one thread set OpenBLAS's number and ignores all others in
    # silence. Here the lock decides, and the last thread to leave need not be the first that came.
    openblas = getattr(threadpoolctl, "OpenBLASController", None)
    release = getattr(openblas, "clear_controlling_thread", lambda force: None)
    release(force=True)
    yield
    release(force=True)


_blas_limit = _BlasLimit()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread, so that it neither fights our threads nor changes bits with their number."""
    holder = _Holder()
    try:
        _blas_limit.enter(holder)
        yield
    finally:
        _blas_limit.leave(holder)


@contextmanager
def single_threaded_libraries() -> Iterator[None]:
    """Hold BLAS to one thread, and the OpenMP of other libraries for calls from this thread.

    For calls into scikit-learn, which adds up thread by thread, so that the number of threads changes the
    last bits. Several threads may do so side by side: OpenMP's limit is each thread's own.
    """
    with single_threaded_blas(), _libraries("openmp").limit(limits=1):
        yield


class _Cancelled(BaseException):
    """Ends work whose result nobody waits for; not an Exception, so that nothing takes it for a failure."""


class _Job:
    """One call of `map_blocks`: what its threads look at to learn that the caller has given up."""

    current = threading.local()

    def __init__(self) -> None:
        self.cancelled = False

    def run(self, function: Callable[[Any], Any], block: Any) -> Any:
        _Job.current.job = self
        return _unless_cancelled(function, block)


def checkpoint() -> None:
    """Raise if what this thread works on is no longer wanted.

    Signals such as Ctrl-C reach the main thread alone. Kernels call this several times a second, so that the
    threads of a pool stop too.
    """
    job = getattr(_Job.current, "job", None)
    if job is not None and job.cancelled:
        raise _Cancelled


def _unless_cancelled(function: Callable[[Any], Any], block: Any) -> Any:
    checkpoint()
    return function(block)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix=_POOL_NAME)


def map_blocks(function: Callable[[Any], Any], blocks: Iterable[Any]) -> list[Any]:
    """Apply `function` to every block, on several threads; NumPy releases the GIL inside products.

    An interrupt, or an error in one block, ends the others; it is raised when no block is being worked on.
    """
    blocks = list(blocks)
    threads = available_threads()
    # A thread of the pool that waited for the pool could wait for itself: nested calls run in place.
    nested = threading.current_thread().name.startswith(_POOL_NAME)
    if threads == 1 or len(blocks) < 2 or nested:
        return [_unless_cancelled(function, block) for block in blocks]
    job, pool = _Job(), _pool(threads)
    futures: list[Future] = []
    try:
        for block in blocks:  # inside: an interrupt here, too, must end what has been handed out
            futures.append(pool.submit(job.run, function, block))
        return [_result(future) for future in futures]
    except BaseException:
        job.cancelled = True
        for future in futures:
            future.cancel()
        wait(futures)
        raise


def _result(future: Future) -> Any:
    """Wait for a result, and look up now and then.

    A signal that comes just before this thread falls asleep, or that another thread receives, does not wake
    it: Ctrl-C would be noticed only when the block is done.
    """
    while not future.done():
        wait([future], timeout=_LOOK_UP)
    return future.result()


def _after_fork() -> None:
    # The threads of the pool stayed with the parent: a child that gave it work would wait for ever.
    _Process.forked = True
    _pool.cache_clear()
    _blas_limit.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


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
