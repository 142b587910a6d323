"""ego-Twitter, 81,306 nodes and 1,342,296 edges: communities beside Leiden, Louvain and spectral methods."""

from __future__ import annotations

from benchmarks._tools import table
from benchmarks.speed._networks import PLOTS, measure_network, real_network
from benchmarks.speed._peers import stored


def main() -> None:
    A = real_network("ego_twitter")
    if A is not None:
        title = f"ego-Twitter: {A.shape[0]:,} nodes, {A.nnz:,} nonzeros"
        with stored(A) as folder:
            table(title, measure_network(folder, None), PLOTS)


if __name__ == "__main__":
    main()
