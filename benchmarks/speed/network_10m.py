"""Ten million nodes and 60 million nonzeros with 100 known communities: what ends in 18 GB and 10 minutes."""

from __future__ import annotations

from benchmarks._graphs import power_law_graph
from benchmarks._tools import table, timed
from benchmarks.speed._graph_methods import igraph_leiden, symnmf, tree, tree_once
from benchmarks.speed._networks import PLOTS, measure_network
from benchmarks.speed._peers import allowed, stored

NODES, COMMUNITIES, DEGREE = 10_000_000, 100, 6
LIMITS = allowed(600.0, 18_000.0)
TOLD = (tree_once, tree, symnmf)


def main() -> None:
    made, (A, y) = timed(lambda: power_law_graph(NODES, COMMUNITIES, DEGREE))
    print(f"(the graph was made in {made:.0f} s)", flush=True)
    title = f"Synthetic graph: {NODES:,} nodes, {A.nnz:,} nonzeros"
    with stored(A) as folder:
        del A
        methods = {"told": TOLD, "found": (igraph_leiden,), "by_modularity": False}
        rows = measure_network(folder, COMMUNITIES, y, **methods, **LIMITS)
        table(title, rows, PLOTS)


if __name__ == "__main__":
    main()
