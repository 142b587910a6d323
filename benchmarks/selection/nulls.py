"""Data without clusters, and planted partitions: how often each method gives the right number in 20 draws."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._tools import table
from benchmarks.selection._studies import ask, methods, of_network, of_samples, study_of
from symclust.datasets import lfr, planted_partition
from symclust.selection import Pairs
from symclust.selection._nulls import shuffled_pairs

DRAWS = 20
MOST = 15

CASES: dict[str, tuple[int, Callable[[int], Pairs]]] = {
    "Erdős-Rényi, 500 nodes, degree 8": (
        1,
        lambda seed: of_network(planted_partition(500, 2, 8, 0.5, random_state=seed)[0]),
    ),
    "configuration model, 500 nodes, degrees of LFR": (1, lambda seed: of_network(configuration(seed))),
    "Gaussian, 300 samples, 2 features": (1, lambda seed: of_samples(rng(seed).normal(size=(300, 2)))),
    "Gaussian, 200 samples, 10 features": (1, lambda seed: of_samples(rng(seed).normal(size=(200, 10)))),
    "uniform, 300 samples, 2 features": (1, lambda seed: of_samples(rng(seed).uniform(size=(300, 2)))),
    "uniform, 300 samples, 5 features": (1, lambda seed: of_samples(rng(seed).uniform(size=(300, 5)))),
    "planted partition, 500 nodes, 4 clusters": (
        4,
        lambda seed: of_network(planted_partition(500, 4, 12, 0.25, random_state=seed)[0]),
    ),
    "planted partition, 1000 nodes, 10 clusters": (
        10,
        lambda seed: of_network(planted_partition(1000, 10, 16, 0.25, random_state=seed)[0]),
    ),
}


def rng(seed: int) -> np.random.RandomState:
    return np.random.RandomState(seed)


def configuration(seed: int) -> Any:
    return shuffled_pairs(lfr(500, 0.3, 8, 40, random_state=seed)[0], rng(seed))


def main() -> None:
    named = os.environ.get(
        "SYMCLUST_SELECTION_METHODS", "auto bethe_hessian modularity Leiden HDBSCAN"
    ).split()
    asked = {name: method for name, method in methods().items() if name in named}
    rows = []
    for case, (known, draw) in CASES.items():
        row: dict[str, Any] = {"data": case, "known": known}
        answers: dict[str, list[int | None]] = {name: [] for name in asked}
        for seed in range(DRAWS):
            data = draw(seed)
            for name, method in asked.items():
                answers[name].append(ask(method, study_of(data, MOST, seed), seed)[0])
        for name, found in answers.items():
            row[name] = f"{found.count(known)} of {DRAWS}"
            print(f"{case}, {name}: {dict(Counter(found))}", flush=True)
        rows.append(row)
    table("Right numbers of clusters in 20 draws", rows)
