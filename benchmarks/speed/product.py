"""Sparse product: 1M nodes, 20M nonzeros, against SciPy and MKL."""

from __future__ import annotations

import ctypes.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._tools import seconds, table
from symclust.operators import as_operator

NODES, EDGES = 1_000_000, 10_000_000


def random_graph(nodes: int = NODES, edges: int = EDGES, seed: int = 0) -> sp.csr_array:
    """Return a symmetric graph without structure: the hardest case for caches."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, nodes, (2, edges), dtype=np.int32)
    half = sp.coo_array((rng.random(edges), (i, j)), shape=(nodes, nodes))
    A = (half + half.T).tocsr()
    A.sum_duplicates()
    kind = np.int32
    return sp.csr_array((A.data, A.indices.astype(kind), A.indptr.astype(kind)), shape=A.shape)


def mkl_product() -> Callable[[Any, Any], Any] | None:
    """Return MKL's product through sparse_dot_mkl, where both are installed."""
    library = next(Path(sys.prefix, "lib").glob("libmkl_rt.so*"), None) or ctypes.util.find_library("mkl_rt")
    if library:
        os.environ.setdefault("MKL_RT", str(library))
    try:
        from sparse_dot_mkl import dot_product_mkl
    except ImportError:
        print("(MKL left out: pip install mkl sparse_dot_mkl)")
        return None
    return dot_product_mkl


def main() -> None:
    mkl = mkl_product()
    graph = random_graph()
    rows = []
    for dtype in (np.float64, np.float32):
        A = graph.astype(dtype)
        operator = as_operator(A)
        for k in (2, 8, 16, 32, 64):
            H = np.random.default_rng(1).random((NODES, k)).astype(dtype)
            ours = seconds(lambda op=operator, H=H: op @ H, 3)
            scipy = seconds(lambda A=A, H=H: A @ H, 2)
            row = {
                "dtype": dtype.__name__,
                "k": k,
                "ours s": ours,
                "SciPy s": scipy,
                "SciPy / ours": scipy / ours,
            }
            if mkl is not None:
                row["MKL s"] = seconds(lambda A=A, H=H: mkl(A, H), 3)
                row["MKL / ours"] = row["MKL s"] / ours
            rows.append(row)
    table("Sparse product, 1M nodes, 20M nonzeros", rows)
    for peer in ("SciPy", "MKL"):
        ratios = [row[f"{peer} / ours"] for row in rows if f"{peer} / ours" in row]
        if ratios:
            mean = np.exp(np.log(ratios).mean())
            print(f"\n{peer} / ours: geometric mean {mean:.2f}, least {min(ratios):.2f}")


if __name__ == "__main__":
    main()
