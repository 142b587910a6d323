"""Trees of communities beside flat SymNMF and Leiden: labelled graphs, com-DBLP, and time against edges.

Parts by name: `python -m benchmarks.papers.community_trees labelled dblp scaling`.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import igraph
import matplotlib
import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import normalized_mutual_info_score

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from benchmarks._graphs import as_igraph, labelled_graph, leiden
from benchmarks._tools import RESULTS, table, timed
from symclust import HierarchicalSymNMF, SymNMF
from symclust.datasets import planted_partition
from symclust.graphs import normalized_cut as normalize
from symclust.metrics import normalized_cut

SEEDS = 5
LABELLED = {"email_eu_core": 42, "cora_graph": 7}
SAMPLES = (12_500, 25_000, 50_000, 100_000, 200_000, 400_000)  # of 10 neighbours each


def tree(A: csr_array, k: int | None, seed: int, **options: Any) -> np.ndarray:
    return HierarchicalSymNMF(k, affinity="precomputed", random_state=seed, **options).fit(A).labels_


def tree_flattened(A: csr_array, k: int, seed: int) -> np.ndarray:
    return HierarchicalSymNMF(k, affinity="precomputed", random_state=seed).fit(A).flatten().labels_


def flat(A: csr_array, k: int, seed: int) -> np.ndarray:
    return SymNMF(k, affinity="precomputed", random_state=seed, time_limit=240).fit(normalize(A)).labels_


def describe(A: csr_array, y: Any, graph: igraph.Graph, labels: np.ndarray) -> dict[str, float]:
    sizes = np.bincount(labels[labels >= 0])
    alone = np.where(labels >= 0, labels, len(sizes) + np.arange(len(labels)))  # igraph knows no -1
    row = {
        "clusters": float(np.count_nonzero(sizes)),
        "NMI": normalized_mutual_info_score(y, labels) if y is not None else np.nan,
        "average normalised cut": normalized_cut(A, labels),
        "modularity": graph.modularity(alone.tolist()),
        "largest": float(sizes.max()),
    }
    return row if y is not None else {name: row[name] for name in row if name != "NMI"}


def measure(
    A: csr_array, y: Any, graph: igraph.Graph, run: Callable[[int], np.ndarray], seeds: int
) -> dict[str, float]:
    """Return the means over seeds."""
    rows = []
    for seed in range(seeds):
        begun = time.process_time()
        seconds, labels = timed(lambda seed=seed: run(seed))
        processor = time.process_time() - begun  # of all threads: others may be using the machine
        rows.append({**describe(A, y, graph, labels), "s": seconds, "processor s": processor})
    means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    if y is not None:
        means["NMI ±"] = float(np.std([row["NMI"] for row in rows]))
    return {name: round(value, 3) for name, value in means.items()}


def compare(
    A: csr_array, y: Any, methods: dict[str, Callable[[int], np.ndarray]], graph: igraph.Graph, seeds: int
) -> list[dict[str, Any]]:
    found = []
    for name, run in methods.items():
        row = {"method": name, **measure(A, y, graph, run, seeds)}
        print(row, flush=True)
        found.append(row)
    return found


def labelled_graphs() -> None:
    for name, k in LABELLED.items():
        data = labelled_graph(name)
        if data is None:
            continue
        A, y = data
        graph = as_igraph(A)
        k_leiden = len(np.unique(leiden(graph, 0)))
        methods = {
            f"tree, k = {k}": lambda seed, A=A, k=k: tree(A, k, seed),
            f"tree, k = {k}, n_init=8": lambda seed, A=A, k=k: tree(A, k, seed, n_init=8),
            f"tree, k = {k}, flattened": lambda seed, A=A, k=k: tree_flattened(A, k, seed),
            f"SymNMF, k = {k}": lambda seed, A=A, k=k: flat(A, k, seed),
            "Leiden": lambda seed, graph=graph: leiden(graph, seed),
            f"tree, k = {k_leiden}": lambda seed, A=A, k=k_leiden: tree(A, k, seed),
            f"SymNMF, k = {k_leiden}": lambda seed, A=A, k=k_leiden: flat(A, k, seed),
            "tree, k by modularity": lambda seed, A=A: tree(A, None, seed),
            "tree, k by modularity, n_init=8": lambda seed, A=A: tree(A, None, seed, n_init=8),
        }
        table(f"Communities of {name}, means of {SEEDS} seeds", compare(A, y, methods, graph, SEEDS))


def dblp() -> None:
    data = labelled_graph("com_dblp")
    if data is None:
        return
    A = data[0]
    graph = as_igraph(A)
    k_leiden = len(np.unique(leiden(graph, 0)))
    methods: dict[str, Callable[[int], np.ndarray]] = {
        "tree, k = 100": lambda seed: tree(A, 100, seed),
        "tree, k = 100, n_init=1": lambda seed: tree(A, 100, seed, n_init=1),
        "Leiden": lambda seed: leiden(graph, seed),
        f"tree, k = {k_leiden}": lambda seed: tree(A, k_leiden, seed),
        f"tree, k = {k_leiden}, min_size=1, balance=0.1": lambda seed: tree(
            A, k_leiden, seed, min_size=1, balance=0.1
        ),
        "tree, k = 1000": lambda seed: tree(A, 1000, seed),
        "tree, k = 1000, n_init=1": lambda seed: tree(A, 1000, seed, n_init=1),
        "tree, k by modularity": lambda seed: tree(A, None, seed),
        "SymNMF, k = 100": lambda seed: flat(A, 100, seed),
    }
    table("Communities of com-DBLP (317,080 nodes, 1,049,866 edges)", compare(A, None, methods, graph, 1))


def scaling(k: int = 32) -> None:
    rows = []
    for n in SAMPLES:
        A, y = planted_partition(n, k, degree=10, mixing=0.2, random_state=0)
        begun = time.process_time()
        seconds, labels = timed(lambda A=A: tree(A, k, 0, n_init=1))
        processor = time.process_time() - begun
        edges = A.nnz // 2
        row = {
            "nodes": n,
            "edges": edges,
            "s": round(seconds, 2),
            "processor s": round(processor, 2),
            "processor s per million edges": round(1e6 * processor / edges, 2),
            "NMI": round(normalized_mutual_info_score(y, labels), 4),
        }
        print(row, flush=True)
        rows.append(row)
    table(f"Time against edges: planted partition, {k} clusters, {k} leaves, n_init=1", rows)
    draw(rows)


def draw(rows: list[dict[str, Any]]) -> None:
    edges, seconds = (np.array([row[name] for row in rows]) for name in ("edges", "processor s"))
    figure, ax = plt.subplots(figsize=(5, 4))
    ax.loglog(edges, seconds, "o-", label="HierarchicalSymNMF")
    ax.loglog(edges, seconds[-1] * edges / edges[-1], "--", color="grey", label="proportional to edges")
    ax.set(xlabel="edges", ylabel="processor seconds")
    ax.legend()
    figure.tight_layout()
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "community_trees.png", dpi=110)
    print(f"\nplot: {RESULTS / 'community_trees.png'}")


PARTS = {"labelled": labelled_graphs, "dblp": dblp, "scaling": scaling}


def main(parts: Sequence[str] = ()) -> None:
    warnings.simplefilter("ignore")
    for part in parts or PARTS:
        if part not in PARTS:
            sys.exit(f"{part!r} is not one of the parts: {', '.join(PARTS)}.")
        PARTS[part]()


if __name__ == "__main__":
    main(sys.argv[1:])
