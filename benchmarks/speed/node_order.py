"""What orders of the nodes cost and bring: products, first sweeps, and iterations of `SymNMF`.

A planted partition of 1M nodes whose nodes were shuffled, and com-DBLP as it comes (needs SYMCLUST_DATA).
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, reverse_cuthill_mckee

from benchmarks._tools import seconds, table, timed
from benchmarks.speed.bandwidth import Sweep, as_int32, permuted
from symclust import SymNMF, _kernels
from symclust.hierarchy import LeafGraph
from symclust.operators import Sparse

COMMUNITY, FAR, ITERATIONS = 1000, 32_000, 5


def planted(nodes: int, seed: int = 0) -> sp.csr_array:
    """Return communities of 1,000 nodes; one edge in ten goes anywhere."""
    rng = np.random.default_rng(seed)
    i = np.repeat(np.arange(nodes), 10)
    j = np.minimum(i // COMMUNITY * COMMUNITY + rng.integers(0, COMMUNITY, len(i)), nodes - 1)
    j = np.where(rng.random(len(i)) < 0.1, rng.integers(0, nodes, len(i)), j)
    half = sp.coo_array((np.ones(len(i)), (i, j)), shape=(nodes, nodes))
    return as_int32((half + half.T).tocsr())


def com_dblp() -> sp.csr_array | None:
    path = Path(os.environ.get("SYMCLUST_DATA", "")) / "com_dblp.npz"
    if not path.exists():
        print("(com-DBLP left out: set SYMCLUST_DATA to the folder that holds com_dblp.npz)")
        return None
    with np.load(path, allow_pickle=False) as file:
        parts = (file["A_data"].astype(float), file["A_indices"], file["A_indptr"])
        return as_int32(sp.csr_array(parts, shape=tuple(file["A_shape"])))


def by_coarsening(A: sp.csr_array) -> np.ndarray:
    """Join nodes to their heaviest neighbours, level after level, and take groups one after the other."""
    graph, joined = LeafGraph.whole(Sparse(A)), []
    while graph.n > 2000:
        limit = 4.5 * graph.association() / max(graph.n // 8, 1)
        group, *arrays = _kernels.coarsen_graph(*graph._arrays, limit, 0)
        if len(arrays[3]) > 0.98 * graph.n:
            break
        joined.append(group)
        graph = LeafGraph(*arrays)
    place = np.argsort(
        reverse_cuthill_mckee(sp.csr_array((graph.weights, graph.indices, graph.indptr)), True)
    )
    for group in reversed(joined):
        place = np.argsort(np.argsort(place[group], kind="stable"))
    return np.argsort(place)


def breadth_first(A: sp.csr_array) -> np.ndarray:
    reached = breadth_first_order(A, int(np.argmax(np.diff(A.indptr))), return_predecessors=False)
    return np.concatenate([reached, np.setdiff1d(np.arange(A.shape[0]), reached)])


ORDERS: dict[str, Callable[[sp.csr_array], np.ndarray]] = {
    "our coarsening": by_coarsening,
    "reverse Cuthill-McKee": lambda A: reverse_cuthill_mckee(A, symmetric_mode=True),
    "breadth first": breadth_first,
    "by degree": lambda A: np.argsort(-np.diff(A.indptr), kind="stable"),
}


def far_share(A: sp.csr_array) -> float:
    rows = np.repeat(np.arange(A.shape[0], dtype=np.int32), np.diff(A.indptr))
    return float(np.mean(np.abs(rows - A.indices) > FAR))


def iterations(A: sp.csr_array, k: int) -> float:
    """Return the processor seconds of some iterations from a random start."""
    model: Any = SymNMF(k, affinity="precomputed", init="random", random_state=0, max_iter=ITERATIONS, tol=0)
    start = time.process_time()
    model.fit(Sparse(A))
    return time.process_time() - start


def measure(A: sp.csr_array, k: int) -> dict:
    H, operator = np.random.default_rng(1).random((A.shape[0], k)), Sparse(A)
    return {
        f"product, k = {k}": seconds(lambda: operator @ H, 3),
        f"sweep, k = {k}": seconds(Sweep(operator, k), 3),
    }


def compare(
    name: str, A: sp.csr_array, known: np.ndarray | None = None, ks: tuple[int, ...] = (2, 16, 64)
) -> None:
    warnings.simplefilter("ignore")
    orders = ORDERS if known is None else {"communities, known": lambda _: known} | ORDERS
    rows = []
    for label, order_of in {"as it comes": None, **orders}.items():
        found, order = timed(lambda f=order_of: f(A)) if order_of else (0.0, None)
        moved, B = (0.0, A) if order is None else timed(lambda order=order: permuted(A, order))
        row = {"order": label, "found in s": found, "permuted in s": moved, "far": far_share(B)}
        for k in ks:
            row |= measure(B, k)
        rows.append(row | {f"{ITERATIONS} iterations, processor s": iterations(B, 16)})
    table(f"Node orders: {name}", rows)


def main() -> None:
    nodes = 1_000_000
    shuffle = np.random.default_rng(5).permutation(nodes)
    compare("planted partition, 1M nodes", permuted(planted(nodes), shuffle), np.argsort(shuffle))
    if (A := com_dblp()) is not None:
        compare("com-DBLP", A)


if __name__ == "__main__":
    main()
