"""One network, all methods: end-to-end time, peak memory and quality."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from benchmarks._graphs import graph_quality, labelled_graph
from benchmarks.speed._graph_methods import (
    igraph_leiden,
    network_leiden,
    network_louvain,
    spectral_amg,
    spectral_lanczos,
    spectral_lobpcg,
    symnmf,
    tree,
)
from benchmarks.speed._peers import Outcome, Peer, load, run

PLOTS = tuple({"y": measure, "by": "method"} for measure in ("s", "peak (MB)"))
FOUND = (igraph_leiden, network_leiden, network_louvain)  # they choose the number of communities
TOLD = (tree, symnmf, spectral_lanczos, spectral_lobpcg, spectral_amg)

Quality = Callable[[np.ndarray], dict[str, Any]]


def measure_network(
    folder: Path,
    k: int | None,
    y: np.ndarray | None = None,
    told: Sequence[Peer] = TOLD,
    found: Sequence[Peer] = FOUND,
    by_modularity: bool = True,
    more: Quality | None = None,
    seconds: float | None = None,
    memory: float | None = None,
) -> list[dict[str, Any]]:
    """Return a row for each method on the stored graph; without k, they are told the number Leiden found.

    The tree by modularity, which is told nothing, comes last.
    """
    rows = []
    graph = load(folder, mmap_mode="r")  # the process that is measured holds the graph, this one does not

    def row(peer: Peer, name: str, **options: Any) -> Outcome:
        outcome = run(peer, folder, seconds, memory, **options)
        facts = {"method": name, **_quality(graph, outcome, y, more), **outcome.facts}
        rows.append({column: facts[column] for column in _columns(facts)})
        print(rows[-1], flush=True)
        return outcome

    for peer in found:
        outcome = row(peer, peer.name)
        if k is None and not outcome.failed:
            k = int(outcome.answer["labels"].max()) + 1
    for peer in told if k else ():
        row(peer, f"{peer.name}, k = {k}", k=k)
    if by_modularity:
        row(tree, f"{tree.name}, k by modularity")
    return rows


def _quality(A: sp.csr_array, outcome: Outcome, y: np.ndarray | None, more: Quality | None) -> dict[str, Any]:
    if outcome.failed:
        return {}
    labels = outcome.answer["labels"]
    found = graph_quality(A, labels)
    if y is not None:
        found["NMI"] = float(normalized_mutual_info_score(y, labels))
        found["ARI"] = float(adjusted_rand_score(y, labels))
    return found | (more(labels) if more else {})


def _columns(facts: dict[str, Any]) -> list[str]:
    """Put what is looked at first to the left."""
    first = ["method", "s", "processor s", "peak (MB)", "before (MB)"]
    return [name for name in first if name in facts] + [name for name in facts if name not in first]


def real_network(name: str) -> sp.csr_array | None:
    """Return a network of the labelled data in single precision, or None with a note."""
    data = labelled_graph(name)
    return None if data is None else data[0].astype(np.float32)
