"""LFR graphs over mixing: default calls beside spectral clustering, Leiden and Louvain."""

from __future__ import annotations

from benchmarks.quality._methods import network_methods
from benchmarks.quality._runs import SEEDS, Runs, label_scores
from symclust.datasets import lfr

ABOUT = """`datasets.lfr` with average degree 20, largest degree 50, exponents 2 (degrees) and 1 (sizes);
20 to 100 nodes in a community for n = 2,000, 50 to 500 for n = 20,000. Each random state is another
graph and another run. Methods as for networks: ours and spectral clustering are told the number of
communities, Leiden and Louvain are not."""

SIZES = {2_000: (20, 100), 20_000: (50, 500)}
MIXING = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


def main() -> None:
    runs = Runs("lfr", ABOUT)
    for n, (smallest, largest) in SIZES.items():
        for mixing in MIXING:
            for seed in SEEDS:
                A, y = lfr(n, mixing, min_community=smallest, max_community=largest, random_state=seed)
                k = int(y.max()) + 1
                methods = network_methods(A, k)
                name = f"n = {n:,}, mixing {mixing}"
                runs.measure(name, methods, label_scores(y), (seed,), communities=k)
