"""LFR graphs over mixing: default calls beside spectral clustering, Leiden and Louvain."""

from __future__ import annotations

from benchmarks.quality._methods import network_methods
from benchmarks.quality._runs import Runs, label_scores
from symclust.datasets import lfr

ABOUT = """`datasets.lfr` with average degree 20, largest degree 50, exponents 2 (degrees) and 1 (sizes).
Each random state is another graph and another run. Methods as for networks: ours and spectral
clustering are told the number of communities, the others are not."""

GRAPHS = 10
SIZES = ((1_000, 10, 50), (1_000, 20, 100), (5_000, 20, 100))  # nodes; the least and the most in a community
MIXING = (0.1, 0.3, 0.5, 0.6, 0.7, 0.8)


def main() -> None:
    runs = Runs("lfr", ABOUT)
    for n, smallest, largest in SIZES:
        for mixing in MIXING:
            for seed in range(GRAPHS):
                A, y = lfr(n, mixing, min_community=smallest, max_community=largest, random_state=seed)
                k = int(y.max()) + 1
                methods = network_methods(A, k)
                name = f"n = {n:,}, {smallest} to {largest} in a community, mixing {mixing}"
                runs.measure(name, methods, label_scores(y), (seed,), communities=k)
