"""Trees of communities beside flat SymNMF and Leiden: labelled and large graphs, and time against edges.

Parts by name: `python -m benchmarks.figures.community_trees labelled refined dblp twitter flat scaling`.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
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
from symclust.datasets import lfr, planted_partition
from symclust.graphs import normalized_cut as normalize
from symclust.metrics import average_normalized_cut

SEEDS = 5
LABELLED = {"email_eu_core": 42, "cora_graph": 7}
BY_MODULARITY = {"refine": "modularity"}
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
        "average normalised cut": average_normalized_cut(A, labels),
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


def large(name: str, title: str) -> None:
    """Processor time, cut and modularity beside Leiden's, at 100 leaves and at its own number."""
    data = labelled_graph(name)
    if data is None:
        return
    A = data[0]
    graph = as_igraph(A)
    k = len(np.unique(leiden(graph, 0)))
    methods: dict[str, Callable[[int], np.ndarray]] = {
        "Leiden": lambda seed: leiden(graph, seed),
        "tree, k = 100": lambda seed: tree(A, 100, seed),
        f"tree, k = {k}": lambda seed: tree(A, k, seed),
        f"tree, k = {k}, min_size=1": lambda seed: tree(A, k, seed, min_size=1),
        f"tree, k = {k}, min_size=1, modularity": lambda seed: tree(A, k, seed, **BY_MODULARITY, min_size=1),
        "tree, k = 1000": lambda seed: tree(A, 1000, seed),
        "tree, k by modularity": lambda seed: tree(A, None, seed),
        "tree, k by modularity, modularity": lambda seed: tree(A, None, seed, **BY_MODULARITY),
    }
    rows = compare(A, None, methods, graph, 3)
    once = {
        "tree, k = 100, refine=None": lambda seed: tree(A, 100, seed, refine=None),
        f"tree, k = {k}, refine=None": lambda seed: tree(A, k, seed, refine=None),
        "tree, k by modularity, refine=None": lambda seed: tree(A, None, seed, refine=None),
    }
    rows += compare(A, None, once, graph, 1)
    table(f"Communities of {title}, means of 3 seeds, refine=None of one", rows)


def dblp() -> None:
    large("com_dblp", "com-DBLP (317,080 nodes, 1,049,866 edges)")


def twitter() -> None:
    large("ego_twitter", "ego-Twitter (81,306 nodes, 1,342,296 edges)")


def flat_dblp() -> None:
    """Flat SymNMF, which takes its whole time limit of four minutes."""
    data = labelled_graph("com_dblp")
    if data is not None:
        A = data[0]
        run = {"SymNMF, k = 100": lambda seed: flat(A, 100, seed)}
        table("Flat SymNMF on com-DBLP", compare(A, None, run, as_igraph(A), 1))


def known_graphs() -> Iterator[tuple[str, csr_array, np.ndarray, int]]:
    """Yield names, graphs, classes and numbers of seeds: never choose an option by one of them alone."""
    for name in ("karate", "polblogs", "cora_graph", "pubmed_graph", "email_eu_core"):
        data = labelled_graph(name)
        if data is not None and data[1] is not None:
            yield name, data[0], data[1], 10
    for mixing in (0.1, 0.3, 0.5, 0.6):
        yield f"LFR 5,000, {mixing}", *lfr(5000, mixing=mixing, random_state=1), 3
    sizes = {"min_community": 100, "max_community": 1000, "max_degree": 100}
    for mixing in (0.3, 0.6):
        yield f"LFR 30,000, {mixing}", *lfr(30_000, mixing=mixing, random_state=1, **sizes), 2
    for mixing in (0.3, 0.6):
        made = planted_partition(10_000, 20, degree=20, mixing=mixing, random_state=0)
        yield f"planted 10,000, {mixing}", *made, 3


def refined() -> None:
    """Agreement with known classes, with and without moves between leaves."""
    rows = []
    for name, A, y, seeds in known_graphs():
        graph, k = as_igraph(A), len(np.unique(y))
        runs = {
            "refine=None": lambda seed, A=A, k=k: tree(A, k, seed, refine=None),
            "both": lambda seed, A=A, k=k: tree(A, k, seed),
            "modularity": lambda seed, A=A, k=k: tree(A, k, seed, **BY_MODULARITY),
            "None, refine=None": lambda seed, A=A: tree(A, None, seed, refine=None),
            "None, both": lambda seed, A=A: tree(A, None, seed),
            "None, modularity": lambda seed, A=A: tree(A, None, seed, **BY_MODULARITY),
            "Leiden": lambda seed, graph=graph: leiden(graph, seed),
        }
        found = {method: measure(A, y, graph, run, seeds) for method, run in runs.items()}
        row = {"graph": name, "classes": k, **{method: one["NMI"] for method, one in found.items()}}
        row |= {
            f"cut, {method}": found[method]["average normalised cut"] for method in ("refine=None", "both")
        }
        print(row, flush=True)
        rows.append(row)
    table("NMI with known classes: the tree with k classes and by modularity, Leiden", rows)


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


PARTS = {
    "labelled": labelled_graphs,
    "refined": refined,
    "dblp": dblp,
    "twitter": twitter,
    "flat": flat_dblp,
    "scaling": scaling,
}


def main(parts: Sequence[str] = ()) -> None:
    warnings.simplefilter("ignore")
    for part in parts or PARTS:
        if part not in PARTS:
            sys.exit(f"{part!r} is not one of the parts: {', '.join(PARTS)}.")
        PARTS[part]()


if __name__ == "__main__":
    main(sys.argv[1:])
