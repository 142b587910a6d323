"""How many threads run, and the rule that keeps results independent of their number.

The rule: BLAS runs on one thread while a solver runs, and everything parallel is split into blocks whose
borders depend on the data alone. A block's arithmetic is then the same on any number of threads, to the bit.
"""

from __future__ import annotations

import _thread
import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import threadpoolctl

_LOOK_UP = 0.1  # seconds


class _Process:
    """State that a fork changes: a child starts with one thread, whatever its parent had."""

    forked = False


def available_threads() -> int:
    """Threads the kernels use: ``OMP_NUM_THREADS`` if set, otherwise the processors this process may use.

    A forked child has one: threads that the parent has started do not survive a fork.
    """
    if _Process.forked:
        return 1
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


Value_co = TypeVar("Value_co", covariant=True)


class cached_property(functools.cached_property[Value_co]):
    """`functools.cached_property` without its lock, which Python 3.12 has taken out.

    The lock is one for all instances of a class. A thread holds it while it computes a product, and a child
    forked meanwhile would wait for it without end.
    """

    def __init__(self, function: Callable[[Any], Value_co]) -> None:
        super().__init__(function)
        self.lock = nullcontext()


# Limits on other libraries ----------------------------------------------------------------------------------

# Guards all limits, and is taken before a fork: a child must not inherit a library in the middle of a change.
_lock = threading.RLock()


class _Limit:
    """Holds libraries of a kind to one thread from the first entry to the last exit, from whichever threads.

    A limit on BLAS belongs to the process: two threads that entered and left a plain limit in turn would
    restore it in the wrong order. An interrupt may break off every method. So numbers are noted before they
    are changed, and forgotten after they are back: to call `leave` again puts right what is left to do.
    """

    def __init__(self, kind: str) -> None:
        self._kind, self._owner = kind, threading.get_ident()
        self._holders: set[_Ticket] = set()
        self._before: list[tuple[Any, int]] = []  # libraries and their numbers of threads

    def enter(self, holder: _Ticket) -> None:
        with _lock:
            is_first = not self._is_held()
            self._holders.add(holder)
            if is_first:
                self._restore()  # of a holder that was lost
                libraries = _libraries(self._kind)
                self._before = [(library, library.get_num_threads()) for library in libraries]
                _set_threads([(library, 1) for library in libraries])

    def leave(self, holder: _Ticket) -> None:
        with _lock:
            self._holders.discard(holder)
            if not self._is_held():
                self._restore()

    def after_fork(self) -> None:
        """Forget the holders of threads that the child does not have."""
        self._holders = {holder for holder in self._holders if holder.thread == threading.get_ident()}
        if not self._is_held():
            self._restore()

    def _is_held(self) -> bool:
        for holder in self._holders:  # noqa: SIM110 (`any` costs more than all else in a nested block)
            if holder() is not None:
                return True
        return False

    def _restore(self) -> None:
        if self._before and (self._kind == "blas" or self._owner == threading.get_ident()):
            _set_threads(self._before)
            self._before = []


def _libraries(kind: str) -> list[Any]:
    # Scanning the loaded libraries takes milliseconds: do it again only after something has been imported.
    return _scan(len(sys.modules), kind)


@functools.lru_cache(maxsize=2)
def _scan(n_modules: int, kind: str) -> list[Any]:
    return threadpoolctl.ThreadpoolController().select(user_api=kind).lib_controllers


def _set_threads(numbers: Sequence[tuple[Any, int]]) -> None:
    # From version 3.8 on, threadpoolctl lets one thread set OpenBLAS's number and ignores all others in
    # silence. Here the lock decides, and the last thread to leave need not be the first that came.
    openblas = getattr(threadpoolctl, "OpenBLASController", None)
    release = getattr(openblas, "clear_controlling_thread", lambda force: None)
    release(force=True)
    for library, number in numbers:
        library.set_num_threads(number)
    release(force=True)


class _Hold:
    """One ``with`` block that holds libraries to one thread."""

    def __init__(self, openmp: bool = False) -> None:
        self._openmp = openmp
        self._ticket: _Ticket | None = None

    def __enter__(self) -> None:
        self._ticket = ticket = _Ticket(self, _helpers.jobs.put)
        ticket.thread = threading.get_ident()
        ticket.limits = (_blas_limit, _here.openmp_limit) if self._openmp else (_blas_limit,)
        try:
            for limit in ticket.limits:
                limit.enter(ticket)
        except BaseException:
            ticket.help()
            raise

    def __exit__(self, *_: object) -> None:
        if (ticket := self._ticket) is not None:
            try:
                ticket.help()
            except KeyboardInterrupt:  # it may have come before anything was done
                ticket.help()
                raise
            self._ticket = None


class _Ticket(weakref.ref[_Hold]):
    """A place among the holders of limits.

    An interrupt as `__exit__` begins keeps a holder from leaving. When it is collected, its ticket goes to
    the helpers, who leave in its stead: by C code alone, since an interrupt in a finalizer would be lost.
    """

    thread: int
    limits: tuple[_Limit, ...] = ()
    __eq__, __hash__ = object.__eq__, object.__hash__  # those of the hold are gone with it

    def help(self) -> None:
        """Leave; a second time this does nothing."""
        for limit in self.limits:
            limit.leave(self)


_blas_limit = _Limit("blas")


class _Here(threading.local):
    """State that belongs to one thread: its limit on OpenMP, and the job it works on."""

    def __init__(self) -> None:
        self.openmp_limit = _Limit("openmp")
        self.job: _Job | None = None
        self.raises = False


def single_threaded_blas() -> _Hold:
    """Hold BLAS to one thread, so that it neither fights our threads nor changes bits with their number."""
    return _Hold()


def single_threaded_libraries() -> _Hold:
    """Hold BLAS to one thread, and the OpenMP of other libraries for calls from this thread.

    For calls into scikit-learn, which adds up thread by thread, so that the number of threads changes the
    last bits. Several threads may do so side by side: OpenMP's limit is each thread's own.
    """
    return _Hold(openmp=True)


# Work for several threads -----------------------------------------------------------------------------------


class _Cancelled(BaseException):
    """Ends work whose result is no longer needed; not an Exception, so that it is not taken for a failure."""


class _Job:
    """Blocks of work for the thread that has them and for helpers that join it.

    Python raises KeyboardInterrupt in the main thread alone, and anywhere in its bytecode: also while it
    holds one of the locks of `threading` or `concurrent.futures` that are written in Python. So a caller
    takes no lock here, looks only at what helpers write, and never waits for a helper that has not joined.
    """

    def __init__(self, function: Callable[[Any], Any], blocks: Sequence[Any]) -> None:
        self.function = function
        self.blocks = enumerate(blocks)  # shared: a free thread takes the next one
        self.results: list[Any] = [None] * len(blocks)
        self.error: BaseException | None = None
        self.cancelled = False
        self.present: list[None] = []  # an entry for each helper that works here
        self.bell: SimpleQueue[None] = SimpleQueue()

    def work(self) -> None:
        """Take blocks until there are no more."""
        before, _here.job = _here.job, self
        try:
            for number, block in self.blocks:
                if self.cancelled:
                    return
                self.results[number] = self.function(block)
        finally:
            _here.job = before

    def help(self) -> None:
        """Do the same as a helper: an error ends the job, and is left to the caller."""
        self.present.append(None)
        try:
            self.work()
        except _Cancelled:
            pass
        except BaseException as error:
            if self.error is None:
                self.error = error
            self.cancelled = True
        finally:
            self.present.pop()
            self.bell.put(None)

    def finish(self) -> list[Any]:
        """The results in order, with the caller's help; whatever is raised, `end` has to follow."""
        try:
            self.work()
        except _Cancelled:  # by the error of a helper
            if self.error is None:
                raise
        self._wait()
        if self.error is not None:
            raise self.error
        return self.results

    def end(self) -> None:
        """Return when no helper works here any more; a further Ctrl-C is raised only then."""
        self.cancelled = True
        try:
            self._wait()
        except KeyboardInterrupt:
            self._wait()
            raise
        finally:
            self.error = None  # its traceback holds this job

    def _wait(self) -> None:
        """Wait for the helpers that have joined, and look up now and then.

        A signal that comes just before this thread falls asleep, or that another thread receives, does not
        wake it; and an interrupt may have taken what a helper has put into the queue.
        """
        while self.present:
            with suppress(Empty):
                self.bell.get(timeout=_LOOK_UP)


_here = _Here()


class _Helpers:
    """Threads that wait for jobs. One that is gone is replaced when there is a job again."""

    def __init__(self) -> None:
        self.after_fork()

    def after_fork(self) -> None:
        """Begin without the threads, which stayed with the parent."""
        self.jobs: SimpleQueue[_Job | _Ticket] = SimpleQueue()
        self._threads: list[int] = []

    def call(self, job: _Job, count: int) -> None:
        """Offer a job to so many helpers, or to as many as there are."""
        while len(self._threads) < count:
            if (thread := _start(self._serve, self.jobs, self._threads)) is None:
                break
            self._threads.append(thread)
        for _ in self._threads[:count]:
            self.jobs.put(job)

    @staticmethod
    def _serve(jobs: SimpleQueue[_Job | _Ticket], threads: list[int]) -> None:
        try:
            while True:
                jobs.get().help()
        finally:
            threads.remove(threading.get_ident())


_helpers = _Helpers()


def _start(function: Callable[..., None], *args: Any) -> int | None:
    """Start a thread if the system has one; `threading.Thread` would wait for a lock written in Python."""
    try:
        return _thread.start_new_thread(function, args)
    except RuntimeError:
        return None


def checkpoint() -> None:
    """Raise if what this thread works on is no longer wanted.

    Signals such as Ctrl-C reach the main thread alone. Kernels call this several times a second, so that the
    threads of a pool stop too.
    """
    job = _here.job
    if job is not None and job.cancelled:
        raise _Cancelled


def map_blocks(function: Callable[[Any], Any], blocks: Iterable[Any]) -> list[Any]:
    """Apply `function` to every block, on several threads; NumPy releases the GIL inside products.

    An interrupt, or an error in one block, ends the others; it is raised when no block is being worked on.
    Calls inside a block run in place.
    """
    blocks = list(blocks)
    threads = available_threads()
    if threads == 1 or len(blocks) < 2 or _here.job is not None:
        return [_unless_cancelled(function, block) for block in blocks]
    job = _Job(function, blocks)
    try:
        _helpers.call(job, min(threads, len(blocks)) - 1)
        return job.finish()
    except BaseException:
        job.end()
        raise


def _unless_cancelled(function: Callable[[Any], Any], block: Any) -> Any:
    checkpoint()
    return function(block)


def ahead(items: Iterable[Any]) -> Iterator[Any]:
    """Yield the items of an iterator; while one is used, another thread makes the next."""
    source, end = iter(items), object()
    item = next(source, end)
    while item is not end:
        job = _Job(lambda _: next(source, end), [None])
        try:
            _start(job.help)
            yield item
            item = job.finish()[0]
        finally:
            job.end()


# Ctrl-C -----------------------------------------------------------------------------------------------------


def raising_interrupts(function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``; Ctrl-C is raised, and no fit inside answers it by its best so far.

    For answers made of many fits: one that ended early would pass for a whole one.
    """
    before, _here.raises = _here.raises, True
    try:
        return function(*args)
    finally:
        _here.raises = before


def keeps_results() -> bool:
    """Whether a fit that Ctrl-C ends here may return what it has found so far."""
    return not _here.raises


def interruptibly(function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``, a call of seconds into a library that does not look out for signals.

    It runs on a thread of its own: Ctrl-C ends the wait for it, and what it finds is dropped. The library has
    to release the GIL meanwhile, as NumPy's linear algebra does, but not SciPy's.
    """
    job = _Job(lambda _: function(*args), [None])
    if _start(job.help) is None:
        return function(*args)
    while True:
        checkpoint()
        with suppress(Empty):
            job.bell.get(timeout=_LOOK_UP)
            return job.finish()[0]


def _after_fork() -> None:
    _Process.forked = True
    _helpers.after_fork()
    # threadpoolctl's own lock, which a thread inside scikit-learn may have held.
    shared = getattr(getattr(threadpoolctl, "OpenBLASController", None), "_SHARED_STATE", None)
    if shared is not None:
        shared.lock = threading.Lock()
    try:
        _blas_limit.after_fork()
    finally:
        _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork)


def split(n: int, size: int) -> Iterator[slice]:
    """Cut ``range(n)`` into slices of `size`."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
