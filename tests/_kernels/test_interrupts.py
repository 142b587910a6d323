"""Kernels that run long look out for signals: handlers run while they work, and may end them.

SIGINT is sent several times a second. Its handler lets the first pass and raises at the second: a kernel that
does not look would be done before Python gets to run the handler even once.
"""

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from symclust import _kernels, _threads
from symclust._threads import map_blocks

NONE = np.empty(0, dtype=np.int64)


@contextmanager
def signals(let_pass=1):
    """Send SIGINT to this process until one has raised."""
    calls, over = [], threading.Event()

    def handler(number, frame):
        calls.append(number)
        if len(calls) > let_pass and not over.is_set():
            over.set()
            raise KeyboardInterrupt

    def send():
        while not over.wait(0.05):
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, handler)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        over.set()
        sender.join()
        signal.signal(signal.SIGINT, before)


def random_graph(n, degree, seed=0):
    """CSR arrays of a graph with int64 borders and int32 columns, as the bisection takes them."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, n * degree // 2))
    A = sp.csr_array((np.ones(len(i)), (i, j)), shape=(n, n))
    A = sp.csr_array(A + A.T)
    A.setdiag(0)
    A.eliminate_zeros()
    return A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data


def long_rows(n, count):
    """CSR arrays with `count` entries in each of n rows."""
    indices = np.random.default_rng(0).integers(0, n, n * count).astype(np.int32)
    return np.arange(0, n * count + 1, count, dtype=np.int32), indices, np.ones(n * count)


def bisect(graph):
    n = len(graph[0]) - 1
    degrees = np.diff(graph[0]).astype(float)
    side, sums = np.full(n, 7, dtype=np.uint8), np.full((3, 2), -1.0)
    value = _kernels.bisect_graph(*graph, np.zeros(n), degrees, np.ones(n), 0.5, 5.0, 0, side, sums)
    return value, side, sums


@pytest.mark.parametrize("threads", [1, 2])
def test_rank_two(threads):
    n, d = 4000, 1000
    X = sp.random_array((n, d), density=0.5, rng=np.random.default_rng(0), format="csr")
    Xt = sp.csr_array(X.T)
    C, W = np.random.default_rng(1).uniform(size=(d, 2)), np.zeros((n, 2))
    with signals(), pytest.raises(KeyboardInterrupt):
        _kernels.rank_two_nmf(
            X.indptr, X.indices, X.data, Xt.indptr, Xt.indices, Xt.data, C, W, -1.0, 100_000, threads
        )
    for F in (W, C):
        assert np.isfinite(F).all()
        assert (F >= 0).all()


def test_singular_vectors():
    X = sp.random_array((2000, 1000), density=0.5, rng=np.random.default_rng(0), format="csr")
    Xt = sp.csr_array(X.T)
    V, U = np.random.default_rng(1).standard_normal((1000, 2)), np.zeros((2000, 2))
    with signals(), pytest.raises(KeyboardInterrupt):
        _kernels.two_singular_vectors(
            X.indptr, X.indices, X.data, Xt.indptr, Xt.indices, Xt.data, V, U, 1_000_000, 1
        )


GRAPH = 300_000, 12


def test_bisection_leaves_its_arrays_alone():
    graph = random_graph(*GRAPH)
    n, degrees = GRAPH[0], np.diff(graph[0]).astype(float)
    side, sums = np.full(n, 7, dtype=np.uint8), np.full((3, 2), -1.0)
    with signals(), pytest.raises(KeyboardInterrupt):
        _kernels.bisect_graph(*graph, np.zeros(n), degrees, np.ones(n), 0.5, 5.0, 0, side, sums)
    assert (side == 7).all()
    assert (sums == -1).all()


def test_kernels_on_the_threads_of_a_pool_end_with_their_caller(monkeypatch):
    monkeypatch.setattr(_threads, "available_threads", lambda: 2)
    graph, begun, done = random_graph(*GRAPH), [], []

    def work(block):
        begun.append(block)
        bisect(graph)
        done.append(block)

    with signals(let_pass=0), pytest.raises(KeyboardInterrupt):
        map_blocks(work, range(8))
    assert len(begun) < 8
    assert done == []


def test_a_sweep_stops_where_factor_and_gram_matrix_belong_together():
    n, k = 60_000, 80
    indptr, indices, values = random_graph(n, 60)
    rng = np.random.default_rng(0)
    H = rng.uniform(size=(n, k))
    G, start = _kernels.gram(H), H.copy()
    decrease, squared = np.zeros(1), np.zeros(1)
    with signals(), pytest.raises(KeyboardInterrupt):
        _kernels.row_sweep_sparse(
            indptr.astype(np.int32), indices, values, np.zeros(n), H, G, 0.0, False, 50, NONE, NONE,
            np.ones(n, np.uint8), np.zeros(n), decrease, squared,
        )  # fmt: skip
    changed = (start != H).any(axis=1)
    assert changed.any()
    assert not changed.all()
    assert decrease[0] > 0
    np.testing.assert_allclose(G, _kernels.gram(H), rtol=1e-9)


def sparse_factor():
    n, k = 20_000, 300
    indptr, indices, values = random_graph(n, 40)
    H = sp.random_array((n, k), density=0.1, rng=np.random.default_rng(0), format="csr")
    parts, G = (H.indptr.astype(np.int64), H.indices.astype(np.int32), H.data), np.zeros((k, k))
    return lambda: _kernels.sparse_factor_sweeps(
        indptr.astype(np.int32), indices, values, np.zeros(n), *parts, G, 0.0, False, 10, 50, 0.0,
        np.ones(n, np.uint8), np.zeros(n), np.zeros(1), np.zeros(1),
    )  # fmt: skip


def product():
    indptr, indices, values = long_rows(3000, 4000)
    H, out = np.ones((3000, 500)), np.empty((3000, 500))
    return lambda: _kernels.spmm(indptr, indices, values, H, out)


def factored_sweep():
    n, k = 3000, 100
    X, H, Z, ones = long_rows(n, 3000), np.ones((n, k)), np.ones((n, k)), np.ones(n)
    extra = np.zeros(n + 1, np.int32), np.zeros(0, np.int32), np.zeros(0)
    rest = NONE, NONE, np.ones(n, np.uint8), np.zeros(n), np.zeros(1), np.zeros(1)
    G = _kernels.gram(H)
    return lambda: _kernels.row_sweep_factored(
        *X, ones, ones, *extra, np.zeros(n), Z, H, G, 0.0, True, 1, *rest
    )  # fmt: skip


def squared_outer():
    indptr, indices, values = long_rows(3000, 3000)
    X = indptr, np.sort(indices.reshape(3000, -1)).ravel(), values
    return lambda: _kernels.squared_outer(*X, *X, np.ones(3000), np.ones(3000), True)


def pattern():
    indptr, indices, _ = long_rows(3000, 3000)
    H, out = np.ones((3000, 600)), np.empty(len(indices))
    return lambda: _kernels.pattern_products(indptr, indices, H, out)


def gram():
    X = np.ones((40_000, 600))
    return lambda: _kernels.gram(X)


def least_squares(method):
    rng = np.random.default_rng(0)
    # Half of the variables are positive, others in each row: there is a block to factor for every one.
    B, R = rng.standard_normal((600, 300)), rng.standard_normal((10_000, 300))
    G, X, out = B.T @ B, np.zeros_like(R), np.zeros_like(R)
    return lambda: getattr(_kernels, method)(G, R, X, out)


def coordinate():
    n = 3000
    A, H = np.ones((n, n)), np.ones((n, 2))
    ids, column, G, diagonal = np.tile(np.arange(n), 2000), H[:, 0].copy(), H.T @ H, np.ones(n)
    return lambda: _kernels.coordinate_rows(
        A, ids, diagonal, H, column, G, 0, True, ids, NONE, NONE, np.zeros(2)
    )


def absolute():
    n = 2000
    ids, zero, column = np.tile(np.arange(n), 1000), np.zeros(n), np.ones(n)
    R = np.random.default_rng(0).uniform(size=(n, n))
    return lambda: _kernels.absolute_rows(R, ids, ids, zero, zero, zero, column, NONE, NONE, 1, np.zeros(1))


def kernel_k_means():
    n, runs = 3000, 400
    K, weights, numbers = np.ones((n, n)), np.ones(n), np.arange(runs)
    before, sums = np.zeros((runs, n), dtype=np.int64), np.zeros((runs, 2, n))
    return lambda: _kernels.kernel_k_means_update(K, weights, numbers, before, before + 1, sums)


LONG = {
    "sparse_factor": sparse_factor,
    "spmm": product,
    "row_sweep_factored": factored_sweep,
    "squared_outer": squared_outer,
    "pattern_products": pattern,
    "gram": gram,
    "nnls_block_pivoting": lambda: least_squares("nnls_block_pivoting"),
    "nnls_active_set": lambda: least_squares("nnls_active_set"),
    "coordinate_rows": coordinate,
    "absolute_rows": absolute,
    "kernel_k_means_update": kernel_k_means,
}


@pytest.mark.parametrize("kernel", LONG)
def test_other_long_kernels(kernel):
    call = LONG[kernel]()
    with threadpool_limits(2, user_api="openmp"), signals(), pytest.raises(KeyboardInterrupt):
        call()


MEMORY = """
import os, resource
import numpy as np
from symclust import _kernels
n, k = 20_000, 600
H = np.zeros((n, k))
indptr, indices, none = np.zeros(n + 1, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64)
def sweep(H, G):
    _kernels.row_sweep_sparse(indptr, indices, np.zeros(0), np.zeros(n), H, G, 0.0, False, 1, none, none,
                              np.ones(n, np.uint8), np.zeros(n), np.zeros(1), np.zeros(1))
before = len(os.listdir("/proc/self/task"))
sweep(H[:, :4].copy(), np.zeros((1, 4, 4)))  # threads and their stacks are there now
print(len(os.listdir("/proc/self/task")) - before, "threads more")
G = np.zeros((1, k, k))
with open("/proc/self/statm") as pages:
    used = int(pages.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 9 * k * k * 8, resource.RLIM_INFINITY))
try:
    sweep(H, G)
except MemoryError:
    print("MemoryError")
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
@pytest.mark.skipif("SYMCLUST_SANITIZER" in os.environ, reason="sanitizers take memory of their own")
def test_a_sweep_takes_no_more_threads_than_lanes_and_raises_without_memory():
    """There is room for what it keeps of its eight lanes, but not for a G of each of eight threads."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY],
        env={**os.environ, "OMP_NUM_THREADS": "12"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "7 threads more\nMemoryError\n"
