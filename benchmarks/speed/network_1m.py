"""A million nodes and 20 million nonzeros with 100 known communities of unequal size."""

from __future__ import annotations

from benchmarks._graphs import power_law_graph
from benchmarks._tools import table, timed
from benchmarks.speed._graph_methods import spectral_lanczos, symnmf, tree, tree_once
from benchmarks.speed._networks import PLOTS, measure_network
from benchmarks.speed._peers import stored

NODES, COMMUNITIES = 1_000_000, 100
TOLD = (tree_once, tree, symnmf, spectral_lanczos)  # other spectral solvers take longer on smaller graphs


def main() -> None:
    made, (A, y) = timed(lambda: power_law_graph(NODES, COMMUNITIES, degree=20))
    print(f"(the graph was made in {made:.0f} s)", flush=True)
    title = f"Synthetic graph: {NODES:,} nodes, {A.nnz:,} nonzeros"
    with stored(A) as folder:
        table(title, measure_network(folder, COMMUNITIES, y, told=TOLD, by_modularity=False), PLOTS)


if __name__ == "__main__":
    main()
