"""Two- to four-dimensional benchmark sets: default calls beside what people pick."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from benchmarks.quality._methods import ours, peers
from benchmarks.quality._runs import Runs

ABOUT = """Normalised accuracy, (mean over classes of the share in its cluster − 1/k) / (1 − 1/k) under the
best matching, of 37 sets of a public suite, with random state 0 and k of the labelling that fits best; noise,
label 0, does not count."""


def normalised_accuracy(y: np.ndarray, labels: np.ndarray) -> float:
    shares = contingency_matrix(y, labels).astype(float)
    shares /= shares.sum(axis=1, keepdims=True)
    chance = 1 / len(shares)
    return float((shares[linear_sum_assignment(-shares)].sum() * chance - chance) / (1 - chance))


def main() -> None:
    path = Path(os.environ.get("SYMCLUST_DATA", "missing"), "shapes.npz")
    if not path.exists():
        print("(skipped: set SYMCLUST_DATA to the folder that holds shapes.npz)")
        return
    runs = Runs("shapes", ABOUT, measures=("accuracy",))
    with np.load(path, allow_pickle=False) as file:
        for name in sorted(key.removesuffix(".X") for key in file if key.endswith(".X")):
            X = file[f"{name}.X"].astype(float)
            truths = [file[key] for key in file if key.startswith(f"{name}.y")]
            runs.measure(name, best_of(X, truths), lambda value: {"accuracy": value}, seeds=(0,), n=len(X))


def best_of(X: np.ndarray, truths: list[np.ndarray]) -> dict[str, Any]:
    """Return for each method its accuracy by the labelling that fits best, each with its own k."""

    def best(method: str, seed: int) -> float:
        found: dict[int, np.ndarray] = {}
        values = []
        for y in truths:
            k = int(y.max())
            if k not in found:
                found[k] = np.asarray({**ours(X, k), **peers(X, k)}[method](seed))
            values.append(normalised_accuracy(y[y > 0], found[k][y > 0]))
        return max(values)

    return {m: lambda seed, m=m: best(m, seed) for m in {**ours(X, 2), **peers(X, 2)}}
