"""Networks with known groups: default calls beside spectral clustering, Leiden and Louvain."""

from __future__ import annotations

import numpy as np

from benchmarks._graphs import labelled_graph
from benchmarks.quality._methods import network_methods, ours_precomputed
from benchmarks.quality._runs import Runs, label_scores

ABOUT = """`SymNMF(k).fit(graph)` and `HierarchicalSymNMF(k).fit(graph)` get an igraph graph;
"precomputed" is `affinity="precomputed"` on its sparse adjacency. Leiden and Louvain are igraph's, by
modularity: they choose the number of communities themselves and are not told it, which costs them
accuracy where they find more."""

SETS = ("karate", "polblogs", "cora_graph", "pubmed_graph", "email_eu_core")


def main() -> None:
    runs = Runs("networks", ABOUT)
    for name in SETS:
        data = labelled_graph(name)
        if data is None:
            continue
        A, y = data
        k = len(np.unique(y))
        methods = {**network_methods(A, k), **ours_precomputed(A, k)}
        runs.measure(name, methods, label_scores(y), n=len(y), k=k)
