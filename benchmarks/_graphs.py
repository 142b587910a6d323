"""Graphs with known communities, and what finds communities in them."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, triu

CHUNK = 1 << 24  # edges looked at together


def labelled_graph(name: str) -> tuple[csr_array, np.ndarray | None] | None:
    """Return the adjacency and labels of a graph, or None with a note where it is not there."""
    folder = os.environ.get("SYMCLUST_DATA")
    if not folder or not Path(folder, f"{name}.npz").exists():
        print(f"(skipped {name}: set SYMCLUST_DATA to the folder that holds {name}.npz)")
        return None
    with np.load(Path(folder, f"{name}.npz"), allow_pickle=False) as file:
        data, indices, indptr = (file[f"A_{part}"] for part in ("data", "indices", "indptr"))
        A = csr_array((data.astype(float), indices, indptr), shape=tuple(file["A_shape"]))
        return A, file.get("y")


def as_igraph(A: csr_array) -> Any:
    import igraph

    upper = triu(A, 1).tocoo()
    return igraph.Graph(n=A.shape[0], edges=np.column_stack(upper.coords))


def leiden(graph: Any, seed: int, n_iterations: int = 2, weights: str | None = None) -> np.ndarray:
    random.seed(seed)  # igraph draws from Python's generator
    found = graph.community_leiden(
        objective_function="modularity", n_iterations=n_iterations, weights=weights
    )
    return np.array(found.membership)


def louvain(graph: Any, seed: int) -> np.ndarray:
    random.seed(seed)
    return np.array(graph.community_multilevel().membership)


def graph_quality(A: csr_array, labels: np.ndarray) -> dict[str, Any]:
    """Return sizes, average normalised cut and modularity; nodes of label -1 are in no cluster.

    In memory of the nodes, whatever the number of edges.
    """
    n, clusters = len(labels), int(labels.max()) + 1
    inside, degrees = np.zeros(clusters), np.zeros(n)
    begin = 0
    while begin < n:
        end = max(begin + 1, int(np.searchsorted(A.indptr, A.indptr[begin] + CHUNK, side="right")) - 1)
        part = slice(A.indptr[begin], A.indptr[end])
        rows = np.repeat(np.arange(end - begin), np.diff(A.indptr[begin : end + 1]))
        values, own = np.asarray(A.data[part], dtype=np.float64), labels[begin:end][rows]
        degrees[begin:end] = np.bincount(rows, values, minlength=end - begin)
        same = (own == labels[A.indices[part]]) & (own >= 0)
        inside += np.bincount(own[same], values[same], minlength=clusters)
        begin = end
    placed = labels >= 0
    volume = np.bincount(labels[placed], degrees[placed], minlength=clusters)
    sizes, used = np.bincount(labels[placed], minlength=clusters), volume > 0
    return {
        "clusters": int(used.sum()),
        "in none": int(n - placed.sum()),
        "largest (share of nodes)": float(sizes.max() / n),
        "average normalised cut": float(np.mean(1 - inside[used] / volume[used])),
        "modularity": float(inside.sum() / degrees.sum() - np.sum((volume / degrees.sum()) ** 2)),
    }


def power_law_graph(
    nodes: int, communities: int, degree: float = 20.0, mixing: float = 0.3, seed: int = 0
) -> tuple[csr_array, np.ndarray]:
    """Return a graph in the manner of LFR and its communities, 10M nodes in a minute.

    Degrees follow a power law of exponent 2.5, sizes of communities one of exponent 1 over a factor of 10.
    Every node asks for half its degree of neighbours, the share `mixing` of them anywhere, the others in its
    community, in proportion to degree; the rest of its edges come from being asked. Double edges are joined
    and loops dropped, which takes a few in a thousand. Nodes are in random order; single precision.
    """
    rng = np.random.default_rng(seed)
    sizes = 10 ** rng.random(communities)
    ends = np.rint(np.cumsum(sizes) / sizes.sum() * nodes).astype(np.int64)
    y = np.repeat(np.arange(communities, dtype=np.int32), np.diff(ends, prepend=0))
    wanted = np.minimum((1 - rng.random(nodes, dtype=np.float32)) ** (-1 / 1.5), 50)
    half = wanted * (degree / 2 / wanted.mean()) + rng.random(nodes, dtype=np.float32)
    asks = np.repeat(np.arange(nodes, dtype=np.int32), half.astype(np.int32))  # sorted by community
    first = np.searchsorted(asks, np.append(0, ends))
    own = y[asks]
    anywhere = rng.random(len(asks), dtype=np.float32) < mixing
    low, high = np.where(anywhere, 0, first[own]), np.where(anywhere, len(asks), first[own + 1])
    met = asks[(low + rng.random(len(asks)) * (high - low)).astype(np.int64)]
    order = rng.permutation(nodes).astype(np.int32)
    return _simple(order[asks], order[met], nodes), y[np.argsort(order)]


def _simple(i: np.ndarray, j: np.ndarray, nodes: int) -> csr_array:
    """Return the graph with these edges, each once in both directions, without loops."""
    kept = i != j
    i, j = i[kept], j[kept]
    ones = np.ones(2 * len(i), dtype=np.float32)
    A = coo_array((ones, (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(nodes, nodes)).tocsr()
    A.sum_duplicates()
    A.data[:] = 1
    return A
