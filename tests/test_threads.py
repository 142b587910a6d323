"""The limits on other libraries' threads, and work shared among our own."""

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_info, threadpool_limits

from symclust import KernelKMeans, SpectralYuShi, _kernels, _threads
from symclust._threads import (
    ahead,
    available_threads,
    cached_property,
    map_blocks,
    single_threaded_blas,
    single_threaded_libraries,
)


@pytest.fixture
def two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def library_threads(api):
    """Threads of libraries of a kind; not of a BLAS on OpenMP, as faiss has it: each thread has its own."""
    return {
        library["num_threads"]
        for library in threadpool_info()
        if library["user_api"] == api and library.get("threading_layer") != "openmp"
    }


def side_by_side(*functions):
    """Run each function on a thread of its own; raise what one of them raised."""
    failed = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


@pytest.mark.parametrize("second", [single_threaded_blas, single_threaded_libraries])
def test_limits_that_overlap_on_two_threads_are_lifted_by_the_last(two_blas_threads, second):
    entered, left, seen = threading.Event(), threading.Event(), []

    def first():
        with single_threaded_libraries():
            seen.append(library_threads("openmp"))
            entered.wait(60)
        left.set()

    def other():
        with second():
            entered.set()
            left.wait(60)
            seen.append(library_threads("blas"))

    side_by_side(first, other)
    assert seen == [{1}, {1}]
    assert library_threads("blas") == {2}


def test_openmp_is_held_for_the_calling_thread_alone():
    with threadpool_limits(2, user_api="openmp"):
        held = single_threaded_libraries()
        side_by_side(held.__enter__)  # a thread that never leaves
        with single_threaded_libraries():
            assert library_threads("openmp") == {1}
        assert library_threads("openmp") == {2}
    del held


def test_a_limit_that_an_interrupt_left_behind_is_lifted_by_the_next(two_blas_threads):
    held = single_threaded_blas()
    held.__enter__()
    _threads._blas_limit._holders.clear()  # as when a holder is gone without having left
    with single_threaded_blas():
        assert library_threads("blas") == {1}
    assert library_threads("blas") == {2}


def test_fits_side_by_side_leave_blas_its_threads():
    X, _ = make_blobs(120, centers=3, random_state=0)
    before = library_threads("blas")

    def fit():
        for seed in range(15):
            SpectralYuShi(3, random_state=seed).fit(X)

    side_by_side(fit, fit, fit)
    assert library_threads("blas") == before


@pytest.fixture
def two_threads(monkeypatch):
    monkeypatch.setattr(_threads, "available_threads", lambda: 2)


def test_an_error_in_one_block_ends_the_others_before_it_is_raised(two_threads):
    running, started = [], threading.Barrier(2)

    def work(block):
        started.wait(60)
        if block == 0:
            raise ValueError("block 0")
        running.append(block)
        try:
            while True:  # a kernel looks like this from here
                _threads.checkpoint()
                time.sleep(0.001)
        finally:
            running.remove(block)

    with pytest.raises(ValueError, match="block 0"):
        map_blocks(work, range(2))
    assert running == []


def test_blocks_that_have_not_begun_are_left_out_after_an_error(two_threads):
    done = []

    def work(block):
        if block == 0:
            raise ValueError("block 0")
        time.sleep(0.01)
        done.append(block)

    with pytest.raises(ValueError, match="block 0"):
        map_blocks(work, range(1000))
    assert len(done) < 1000


def test_nested_blocks_run_in_place_and_in_order(two_threads):
    nested = map_blocks(lambda block: map_blocks(lambda x: 10 * block + x, range(3)), range(2))
    assert nested == [[0, 1, 2], [10, 11, 12]]
    np.testing.assert_array_equal(map_blocks(np.square, np.arange(5)), np.arange(5) ** 2)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="a signal cannot be sent to one thread here")
def test_an_interrupt_that_another_thread_receives_ends_the_blocks(two_threads):
    """The caller sleeps through it: the system wakes only the thread that a signal was given to."""
    finished = []

    def work(block):
        if block == 0:
            time.sleep(0.05)  # by now the caller sleeps
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        for _ in range(30_000):
            _threads.checkpoint()
            time.sleep(0.001)
        finished.append(block)

    with pytest.raises(KeyboardInterrupt):
        map_blocks(work, range(2))
    assert finished == []


def test_a_holder_that_is_collected_without_having_left_is_let_go(two_blas_threads, two_threads):
    """An interrupt as ``__exit__`` begins does that, and nothing of ours need ever be called again."""
    map_blocks(abs, range(2))
    held = single_threaded_blas()
    held.__enter__()
    assert library_threads("blas") == {1}
    del held
    gc.collect()
    end = time.monotonic() + 60
    while library_threads("blas") != {2} and time.monotonic() < end:
        time.sleep(0.01)
    assert library_threads("blas") == {2}


def test_a_helper_that_is_gone_is_replaced(two_threads):
    class Deadly:
        def help(self):
            raise SystemExit

    map_blocks(abs, range(2))
    for _ in _threads._helpers._threads:
        _threads._helpers.jobs.put(Deadly())
    end = time.monotonic() + 60
    while _threads._helpers._threads and time.monotonic() < end:
        time.sleep(0.01)
    meet = threading.Barrier(2)  # of the caller and a helper
    assert sorted(map_blocks(lambda _: meet.wait(60), range(2))) == [0, 1]


def test_without_threads_the_caller_does_it_all(two_threads, monkeypatch):
    def refuse(*args):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_threads, "_helpers", _threads._Helpers())
    monkeypatch.setattr(_threads._thread, "start_new_thread", refuse)
    assert map_blocks(abs, range(-3, 0)) == [3, 2, 1]
    assert list(ahead(range(3))) == [0, 1, 2]


def test_the_next_item_is_made_while_one_is_used():
    meet, here = threading.Barrier(2), threading.get_ident()

    def items():
        yield threading.get_ident()
        meet.wait(60)  # until the first one is used
        yield threading.get_ident()
        raise ValueError("the third")

    made = ahead(items())
    assert next(made) == here
    meet.wait(60)
    assert next(made) != here
    with pytest.raises(ValueError, match="the third"):
        next(made)


def test_closing_waits_for_the_item_that_is_being_made():
    begun, done = threading.Event(), []

    def items():
        yield 0
        begun.set()
        time.sleep(0.05)
        done.append(1)
        yield 1

    made = ahead(items())
    next(made)
    begun.wait(60)
    made.close()
    assert done == [1]


def test_a_library_that_is_deaf_to_signals_does_not_hold_up_ctrl_c(monkeypatch):
    begun, over, ran_on, real = threading.Event(), threading.Event(), [], np.linalg.eigh

    def slow(K):
        ran_on.append(threading.get_ident())
        begun.set()
        over.wait(60)
        return real(K)

    def send():
        begun.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(np.linalg, "eigh", slow)
    K = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    sender = threading.Thread(target=send)
    sender.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            KernelKMeans(2, affinity="precomputed", indefinite="clip", random_state=0).fit(K)
    finally:
        over.set()
        sender.join()
    assert ran_on[0] != threading.get_ident()


def test_cached_properties_are_computed_side_by_side():
    """With the lock of Python 3.11 the second thread would wait for the first, and a fork for ever."""
    meet = threading.Barrier(2)

    class Slow:
        @cached_property
        def value(self):
            return meet.wait(60)

    side_by_side(lambda: Slow().value, lambda: Slow().value)


def test_the_fixture_of_other_tests_sets_the_number_of_threads(on_threads):
    for threads in (1, 3):
        assert on_threads(threads, available_threads) == on_threads(threads, _kernels.max_threads) == threads
        assert {library["num_threads"] for library in on_threads(threads, threadpool_info)} == {threads}
