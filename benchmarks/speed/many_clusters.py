"""Hundreds of clusters of a large sparse graph: time, memory, quality, and a sweep against their number."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._graphs import as_igraph, graph_quality, labelled_graph
from benchmarks._tools import memory, seconds, table, timed

METHODS = ("tree", "SymNMF, exponent 1/2", "SymNMF, exponent 0.4", "Leiden")
NEEDED = {100: 2.0, 1000: 5.0}  # times the seconds of the tree
COLUMNS = (16, 32, 64, 128, 256, 512, 1024)


def main() -> None:
    sweeps_against_columns()
    if labelled_graph("com_dblp") is not None:
        com_dblp()


def com_dblp() -> None:
    """Compare in processes of their own, so that the peak of memory belongs to one method."""
    rows = []
    for k, most in NEEDED.items():
        command = [sys.executable, "-c", "from benchmarks.speed.many_clusters import one; one()"]
        found = {name: _run([*command, name, str(k)]) for name in METHODS}
        for name, answer in found.items():
            if answer:
                times = answer["s"] / found["tree"]["s"]
                rows.append({"k": k, "method": name, **answer, "times the tree": times, "allowed": most})
    table("com-DBLP, 317,080 nodes and 1,049,866 edges", rows)


def _run(command: list[str]) -> dict[str, Any]:
    return json.loads(subprocess.check_output(command).splitlines()[-1])


def one() -> None:
    """Fit the method of the first argument with as many clusters as the second says; print what came out."""
    import warnings

    warnings.simplefilter("ignore")
    name, k = sys.argv[1], int(sys.argv[2])
    W, _ = labelled_graph("com_dblp")  # type: ignore[misc]
    took, labels = timed(lambda: _cluster(name, W, k))
    print(
        json.dumps({} if labels is None else {"s": took, "peak (MB)": memory(), **graph_quality(W, labels)})
    )


def _cluster(name: str, W: Any, k: int) -> Any:
    from symclust import HierarchicalSymNMF, SymNMF

    if name == "Leiden":
        return _leiden(W, k)
    if name == "tree":
        return HierarchicalSymNMF(k, affinity="precomputed", random_state=0).fit(W).labels_
    d = sp.diags_array(W.sum(axis=1) ** -(0.5 if "1/2" in name else 0.4))
    model = SymNMF(k, init="tree", affinity="precomputed", random_state=0)
    return model.fit(sp.csr_array(d @ W @ d)).labels_


def _leiden(W: Any, k: int) -> Any:
    """Look for the resolution that gives about k communities; the time is that of all tries."""
    try:
        graph = as_igraph(W)
    except ImportError:
        return None
    low, high = 1e-3, 1e3
    for _ in range(8):
        middle = float(np.sqrt(low * high))
        found = graph.community_leiden("modularity", resolution=middle)
        low, high = (middle, high) if len(found) < k else (low, middle)
        if abs(len(found) - k) <= k // 20:
            break
    return np.array(found.membership)


def sweeps_against_columns(n: int = 100_000) -> None:
    """Every row of H has two nonzeros, its own cluster and the one beside it, whatever the number of columns.

    No entry of zero is opened, so that it stays at that.
    """
    from symclust import _kernels
    from symclust.datasets import planted_partition
    from symclust.objectives import factor_arrays, gram

    A, labels = planted_partition(n, max(COLUMNS), degree=20, mixing=0.2, random_state=0)
    rows, first = [], None
    for k in COLUMNS:
        own = labels * k // max(COLUMNS)
        at = np.repeat(np.arange(n), 2), np.column_stack([own, own ^ 1]).reshape(-1)
        H = sp.csr_array((np.full(2 * n, 0.5), at), shape=(n, k))
        parts, fresh = factor_arrays(H), [gram(H) for _ in range(5)]

        def sweep(parts: Any = parts, fresh: Any = fresh) -> None:
            _kernels.sparse_factor_sweeps(
                A.indptr, A.indices, A.data, A.diagonal(), *parts, fresh.pop(), 0.0, True, 1, 1, np.inf,
                np.ones(n, np.uint8), np.zeros(n), np.zeros(1), np.zeros(1),
            )  # fmt: skip

        took = seconds(sweep, repeat=5)
        first = first or took
        rows.append({"columns": k, "nonzeros of H": H.nnz, "s": took, "times the first": took / first})
    table("A sweep over 100,000 nodes, 2M nonzeros of A, against the number of columns", rows)
