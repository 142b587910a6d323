"""How much of the memory's bandwidth a sparse product and a sweep of row descent reach; what the model says.

Bandwidth is that of a copy on all threads in the same run, both ways counted, as STREAM does. "model" is the
traffic that `operators.spmm_cost_model` counts, "least" what has to move if every row of H is read once.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks._tools import seconds, table
from benchmarks.speed.product import mkl_product, random_graph
from symclust import _kernels
from symclust.operators import Sparse, spmm_cost_model

NODES, DEGREE, REACH = 1_000_000, 20, 1000
REPEATS = 5
LINE = 64


def local_graph(nodes: int = NODES, seed: int = 0) -> sp.csr_array:
    """Return a graph whose edges join nodes at most `REACH` numbers apart."""
    rng = np.random.default_rng(seed)
    i = np.repeat(np.arange(nodes, dtype=np.int32), DEGREE // 2)
    j = ((i + rng.integers(1, REACH, len(i))) % nodes).astype(np.int32)
    half = sp.coo_array((rng.random(len(i)), (i, j)), shape=(nodes, nodes))
    return as_int32((half + half.T).tocsr())


def as_int32(A: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape)


def permuted(A: sp.csr_array, order: np.ndarray) -> sp.csr_array:
    """Return A with row and column `order[i]` in place i."""
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    rows = A[order]
    moved = sp.csr_array((rows.data, place[rows.indices], rows.indptr), shape=A.shape)
    return as_int32(moved.sorted_indices())


class Copy:
    """A copy of 512 MB on all threads."""

    def __init__(self, threads: int) -> None:
        self.source, self.target = np.ones(1 << 26), np.zeros(1 << 26)
        cuts = np.linspace(0, len(self.source), threads + 1).astype(int)
        self.parts = [slice(*ends) for ends in pairwise(cuts)]
        self.pool = ThreadPoolExecutor(threads)

    def __call__(self) -> None:
        done = [self.pool.submit(np.copyto, self.target[part], self.source[part]) for part in self.parts]
        for future in done:
            future.result()

    @property
    def bytes(self) -> int:
        return 2 * self.source.nbytes


def last_cache() -> int:
    """Return the bytes of the largest cache, as Linux tells; 8 MB elsewhere."""
    found = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"))
    sizes = [int(path.read_text().strip().rstrip("K")) << 10 for path in found]
    return max(sizes, default=8 << 20)


class Sweep:
    """One full sweep of row descent over a copy of H, all rows active."""

    def __init__(self, A: Sparse, k: int) -> None:
        self.A, self.diagonal, self.k = A, A.diagonal(), k
        room = np.random.default_rng(2).random(A.n * k + LINE, dtype=np.float64).astype(A.dtype)
        first = -room.ctypes.data % LINE // room.itemsize
        self.H = room[first : first + A.n * k].reshape(A.n, k)
        self.H *= (np.abs(A.values).mean() * DEGREE / A.n) ** 0.5
        self.G, self.active = _kernels.gram(self.H, 1), np.ones(A.n, dtype=np.uint8)
        self.none = np.empty(0, dtype=np.int64)

    def __call__(self) -> None:
        A, zero, rows = self.A, np.zeros(1), np.zeros(self.A.n)
        _kernels.row_sweep_sparse(
            A.indptr, A.indices, A.values, self.diagonal, self.H, self.G, 0.0, True, 1, self.none, self.none,
            self.active, rows, zero, zero.copy(),
        )  # fmt: skip


def measure(name: str, A: sp.csr_array, k: int, copy: Copy, mkl) -> dict:
    """Alternate copy, product, MKL's product and sweep, and take the best of each."""
    operator = Sparse(A)
    H = np.random.default_rng(1).random((operator.n, k)).astype(A.dtype)
    out, sweep = np.empty_like(H), Sweep(operator, k)
    works = {"copy": copy, "ours": lambda: _kernels.spmm(A.indptr, A.indices, A.data, H, out), "sweep": sweep}
    if mkl is not None:
        works["MKL"] = lambda: mkl(A, H)
    best = dict.fromkeys(works, np.inf)
    for _ in range(REPEATS):
        for label, work in works.items():
            best[label] = min(best[label], seconds(work))
    return row_of(name, operator, k, best, copy.bytes / best["copy"])


def row_of(name: str, A: Sparse, k: int, best: dict, bandwidth: float) -> dict:
    told = spmm_cost_model(A, k, bandwidth, cache=last_cache(), line=LINE)
    least = spmm_cost_model(A, k, bandwidth, far_share=0.0)
    return {
        "graph": name,
        "dtype": A.dtype.name,
        "k": k,
        "copy GB/s": bandwidth / 1e9,
        "product s": best["ours"],
        "least / copy": least.seconds / best["ours"],
        "model / copy": told.seconds / best["ours"],
        "model s": told.seconds,
        "MKL / ours": best["MKL"] / best["ours"] if "MKL" in best else "",
        "sweep / product": best["sweep"] / best["ours"],
        "sweep: least / copy": least.seconds / best["sweep"],
        "sweep: model / copy": told.seconds / best["sweep"],
    }


def main() -> None:
    mkl = mkl_product()
    copy = Copy(len(os.sched_getaffinity(0)))
    local = local_graph()
    shuffled = permuted(local, np.random.default_rng(3).permutation(NODES).astype(np.int32))
    graphs = {"local": local, "shuffled": shuffled, "random": random_graph()}
    rows = []
    for name, A in graphs.items():
        for dtype in (np.float64, np.float32):
            for k in (2, 8, 32):
                rows.append(measure(name, A.astype(dtype), k, copy, mkl))
    table("Bandwidth reached, 1M nodes, 20M nonzeros", rows)


if __name__ == "__main__":
    main()
