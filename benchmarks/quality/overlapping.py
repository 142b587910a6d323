"""Communities that overlap: thresholds on our factors beside SLPA, clique percolation, DEMON and Angel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy.sparse import csr_array

from benchmarks.quality._methods import has
from benchmarks.quality._overlapping import GRAPHS, Overlapping, cover_scores, graph, k_cliques, title
from benchmarks.quality._runs import SEEDS, Method, Runs

ABOUT = """`datasets.overlapping_lfr` with 2,000 nodes, average degree 20, largest degree 50, 20 to 100
nodes in a community; "30% in 2" has 30 % of the nodes in two communities each. Each random state is
another graph and another run. Ours are told the number of communities and read by
`communities(threshold=0.4)`; the others find it themselves: SLPA (Xie, Szymanski and Liu 2011; 100
rounds, labels heard in at least a tenth), clique percolation (Palla and others 2005; networkx, cliques
of four), and cdlib's DEMON and Angel where it is installed, at the better of two options. Measured by
`metrics.overlapping_nmi` and `metrics.overlapping_f1`."""

THRESHOLD = 0.4  # of communities(); the best on average of those tried in `thresholds`, as are the others
SLPA, CLIQUE = 0.1, 4


def methods(A: csr_array, k: int) -> dict[str, Method]:
    """Return what is run on a graph; each run fits anew, so that its seconds are its own."""

    def at(threshold: float, name: str) -> Method:
        return lambda seed: getattr(Overlapping(A, k, seed), name)(threshold)

    found = {
        "SymNMF": at(THRESHOLD, "sym_nmf"),
        "SymNMF, precomputed": at(THRESHOLD, "sym_nmf_precomputed"),
        "OffDiagonalSymNMF": at(THRESHOLD, "off_diagonal"),
        "SLPA": at(SLPA, "slpa"),
        "clique percolation": lambda _: k_cliques(A, CLIQUE),
    }
    if has("cdlib"):
        found |= {name: cdlib_method(A, name) for name in ("demon", "angel")}
    return found


def cdlib_method(A: csr_array, name: str) -> Callable[[int], Any]:
    import networkx as nx
    from cdlib import algorithms

    options = {"demon": {"epsilon": 0.5}, "angel": {"threshold": 0.5}}[name]
    G = nx.from_scipy_sparse_array(A)
    return lambda _: getattr(algorithms, name)(G, **options).communities


def main() -> None:
    runs = Runs("overlapping", ABOUT, measures=("NMI", "F1"))
    for case in GRAPHS:
        for seed in SEEDS:
            A, memberships = graph(*case, seed)
            k = memberships.shape[1]
            runs.measure(title(*case), methods(A, k), cover_scores(memberships), (seed,), communities=k)
