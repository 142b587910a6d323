"""Trees of topics on a Dask array: TDT2 several times over, in memory and on one and two worker processes.

The blocks are made on the workers, from the file. All runs have to give the same tree.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks._tools import table
from symclust import HierarchicalNMF
from symclust.documents import DocumentWeights

COPIES, BLOCKS = 8, 4
N_CLUSTERS = 20
GATHERED = 2_000_000  # entries of the largest node that comes to the caller


def tdt2() -> sparse.csr_array:
    with np.load(Path(os.environ.get("SYMCLUST_DATA", "")) / "tdt2.npz") as data:
        parts = tuple(data[f"X_{name}"] for name in ("data", "indices", "indptr"))
        return sparse.csr_array(parts, shape=tuple(data["X_shape"])).astype(np.float64)


def block(number: int) -> sparse.csr_array:
    """Copies of TDT2 in which a word in ten is left out, another one in each."""
    counts, found = tdt2(), []
    for copy in range(number * COPIES // BLOCKS, (number + 1) * COPIES // BLOCKS):
        own = counts.copy()
        own.data[np.random.RandomState(copy).rand(own.nnz) < 0.1] = 0
        own.eliminate_zeros()
        found.append(own)
    return sparse.csr_array(sparse.vstack(found))


def as_dask(n_rows: int, n_columns: int):
    import dask
    import dask.array as da

    shape, meta = (n_rows // BLOCKS, n_columns), sparse.csr_array((0, 0), dtype=np.float64)
    return da.concatenate([da.from_delayed(dask.delayed(block)(i), shape, meta=meta) for i in range(BLOCKS)])


def fit(counts):
    begun = time.perf_counter()
    X = DocumentWeights().fit_transform(counts)
    weighted = time.perf_counter()
    model = HierarchicalNMF(N_CLUSTERS, random_state=0).fit(X)
    return model, weighted - begun, time.perf_counter() - weighted


def on_workers(n_workers: int, shape: tuple[int, int]):
    import dask
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    settings = dask.config.set({"symclust.gathered-entries": GATHERED})
    with settings, LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster):
        return fit(as_dask(*shape).persist())


def main() -> None:
    warnings.simplefilter("ignore")
    if not (Path(os.environ.get("SYMCLUST_DATA", "")) / "tdt2.npz").exists():
        print("(skipped: set SYMCLUST_DATA to the folder that holds tdt2.npz)")
        return
    counts = sparse.csr_array(sparse.vstack([block(i) for i in range(BLOCKS)]))
    shape, nnz = counts.shape, counts.nnz
    model, weights, seconds = fit(counts)
    del counts
    rows = [_row("in memory, 2 threads", model, weights, seconds, model)]
    for n_workers in (1, 2):
        other, *times = on_workers(n_workers, shape)
        rows.append(_row(f"workers: {n_workers}, blocks: {BLOCKS}", other, *times, model))
    table(f"Dask {shape[0]:,} documents {shape[1]:,} terms {nnz:,} entries {N_CLUSTERS} leaves", rows)


def _row(where: str, model, weights: float, seconds: float, other) -> dict:
    same = np.array_equal(model.labels_, other.labels_)
    found = {"where": where, "weights (s)": weights, "tree (s)": seconds, "iterations": model.n_iter_}
    return found | {"same tree": "yes" if same else "no"}


if __name__ == "__main__":
    main()
