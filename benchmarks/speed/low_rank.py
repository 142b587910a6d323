"""A dense similarity of 20,000 samples: randomised starts, "low_rank" beside the exact one."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from benchmarks._tools import table
from symclust import SymNMF

SAMPLES, CLUSTERS, FEATURES = 20_000, 30, 20
BLOCK = 1000
RUNS: tuple[dict[str, Any], ...] = (
    {"init": "merge"},
    {"init": "merge", "tol": 1e-4},
    {"init": "low_rank"},
    {"init": "low_rank", "tol": 0.1},
)


def main() -> None:
    A, labels = similarity()
    rows = []
    for options in RUNS:
        wall, processor = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SymNMF(CLUSTERS, affinity="precomputed", **{"random_state": 0} | options).fit(A)
        row = {**options, "seconds": time.perf_counter() - wall}
        row["processor seconds"] = time.process_time() - processor
        row["times as fast"] = rows[0]["seconds"] / row["seconds"] if rows else 1.0
        row |= {"iterations on A": model.n_iter_, "objective": model.objective_}
        first = rows[0]["objective"] if rows else model.objective_
        row["above the first, %"] = 100 * (model.objective_ / first - 1)
        row["NMI"] = normalized_mutual_info_score(labels, model.labels_)
        rows.append(row)
        print(row, flush=True)
    table(f"Dense similarity, {SAMPLES} samples, {CLUSTERS} clusters", rows)


def similarity() -> tuple[np.ndarray, np.ndarray]:
    """Return Gaussian similarities of clusters of different widths, each times 0.2 or 1.8, in float32."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(CLUSTERS, FEATURES))
    widths = 0.6 * np.exp(rng.uniform(np.log(0.3), 0, CLUSTERS))
    labels = rng.choice(CLUSTERS, SAMPLES, p=rng.dirichlet(np.full(CLUSTERS, 3.0)))
    X = (centers[labels] + widths[labels, None] * rng.normal(size=(SAMPLES, FEATURES))).astype(np.float32)
    squares = np.einsum("ij,ij->i", X, X)
    A = np.empty((SAMPLES, SAMPLES), dtype=np.float32)
    for first in range(0, SAMPLES, BLOCK):
        rows, rest = slice(first, first + BLOCK), slice(first, None)
        distances = squares[rows, None] + squares[rest] - 2 * X[rows] @ X[rest].T
        part = np.exp(-np.maximum(distances, 0) / 8) * rng.choice(np.float32([0.2, 1.8]), distances.shape)
        part[:, :BLOCK] = np.triu(part[:, :BLOCK]) + np.triu(part[:, :BLOCK], 1).T
        A[rows, rest], A[rest, rows] = part, part.T
    return A, labels


if __name__ == "__main__":
    main()
