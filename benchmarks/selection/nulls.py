"""How often "auto" gives the right number: data without clusters, and planted partitions, in 20 draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._tools import table
from symclust import SymNMF, select_n_clusters
from symclust.datasets import lfr, planted_partition
from symclust.selection._nulls import shuffled_pairs

DRAWS = 20
SAMPLES, FEATURES, NODES = (80, 300, 1000), (2, 5, 20), ((300, 8), (1000, 20))


def clouds() -> dict[str, Callable[[np.random.RandomState], Any]]:
    found: dict[str, Callable[[np.random.RandomState], Any]] = {}
    for n in SAMPLES:
        for d in FEATURES:
            found[f"Gaussian, {n} × {d}"] = lambda rng, n=n, d=d: rng.normal(size=(n, d))
            found[f"uniform, {n} × {d}"] = lambda rng, n=n, d=d: rng.uniform(size=(n, d))
        found[f"Gaussian, {n} × 2, ten times as long as wide"] = lambda rng, n=n: (
            rng.normal(size=(n, 2)) * [10, 1]
        )
        found[f"correlated Gaussian, {n} × 5"] = lambda rng, n=n: (
            rng.normal(size=(n, 5)) @ rng.normal(size=(5, 5))
        )
    return found


def networks() -> dict[str, tuple[int, Callable[[int], Any]]]:
    found: dict[str, tuple[int, Callable[[int], Any]]] = {}
    for n, degree in NODES:
        found[f"Erdős-Rényi, {n} nodes, degree {degree}"] = (
            1,
            lambda seed, n=n, degree=degree: planted_partition(n, 2, degree, 0.5, random_state=seed)[0],
        )
        found[f"configuration model, {n} nodes, degree {degree}"] = (
            1,
            lambda seed, n=n, degree=degree: shuffled_pairs(
                lfr(n, 0.3, degree, 2 * degree, random_state=seed)[0], np.random.RandomState(seed)
            ),
        )
    found["planted partition, 4 × 125 nodes, mixing 0.25"] = (
        4,
        lambda seed: planted_partition(500, 4, 12, 0.25, random_state=seed)[0],
    )
    found["planted partition, 3 × 200 nodes, mixing 0.5"] = (
        3,
        lambda seed: planted_partition(600, 3, 30, 0.5, random_state=seed)[0],
    )
    return found


def main() -> None:
    rows = []

    def note(case: str, known: int, found: list[int]) -> None:
        rows.append({"data": case, "known": known, "right": f"{found.count(known)} of {len(found)}"})
        print(rows[-1], dict(Counter(found)), flush=True)

    for case, draw in clouds().items():
        seeds = range(DRAWS)
        note(
            case,
            1,
            [select_n_clusters(draw(np.random.RandomState(s)), random_state=s).n_clusters for s in seeds],
        )
    network = SymNMF(affinity="network")
    for case, (known, make) in networks().items():
        found = [select_n_clusters(make(s), network, random_state=s).n_clusters for s in range(DRAWS)]
        note(case, known, found)
    A, y = lfr(6000, 0.3, 20, 50, min_community=20, max_community=50, random_state=0)
    print(f"LFR with {y.max() + 1} communities:", select_n_clusters(A, network, random_state=0).n_clusters)
    table("Right numbers of clusters in 20 draws", rows)
