"""Neighbours of a million vectors: time, recall, and what approximate ones cost the clusters.

On a sample of the vectors the exact graph can be had too: clusters of both are compared with the classes and
with each other. On all of them recall is measured on rows that are compared with all others.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import normalized_mutual_info_score

from benchmarks._tools import table
from symclust import SymNMF
from symclust.graphs import nearest_neighbors

SAMPLES, FEATURES, CLASSES = 1_000_000, 32, 200
# Times the widths of the classes, and samples of the exact graph: classes apart, and one into the other.
PARTS = {1.0: 100_000, 2.0: 30_000}
CHECKED = 300  # rows whose recall is measured
CELLS = 1 << 25


def main() -> None:
    table("A sample of them", [row for spread in PARTS for row in on_a_sample(*mixture(spread), spread)])
    row, _ = measure(*mixture(1.0), "auto")
    table(f"{SAMPLES:,} × {FEATURES}", [row])


def on_a_sample(X: np.ndarray, classes: np.ndarray, spread: float) -> list[dict[str, Any]]:
    """Compare the exact graph with that of approximate neighbours."""
    chosen = np.sort(np.random.default_rng(1).choice(SAMPLES, PARTS[spread], replace=False))
    found = [measure(X[chosen], classes[chosen], method) for method in ("exact", "approximate")]
    agreement = normalized_mutual_info_score(*[labels for _, labels in found])
    shared = {"samples": PARTS[spread], "spread": spread, "NMI with the other": agreement}
    return [shared | row for row, _ in found]


def mixture(spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Gaussians of different widths and weights, in float32, and their numbers."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(CLASSES, FEATURES))
    widths = spread * rng.uniform(0.4, 0.8, CLASSES)
    classes = rng.choice(CLASSES, SAMPLES, p=rng.dirichlet(np.full(CLASSES, 5.0)))
    noise = rng.standard_normal((SAMPLES, FEATURES), dtype=np.float32)
    return (centers[classes] + widths[classes, None] * noise).astype(np.float32), classes


def measure(X: np.ndarray, classes: np.ndarray, method: str) -> tuple[dict[str, Any], np.ndarray]:
    """Return how long graph and clusters took and how good they are, and the clusters."""
    graph, seconds = timed(lambda: nearest_neighbors(X, method=method))
    model, fitting = timed(lambda: SymNMF(CLASSES, affinity="precomputed", random_state=0).fit(graph))
    row = {"neighbours": method, "graph (s)": seconds, "recall": recall(X, graph), "fit (s)": fitting}
    row["NMI with the classes"] = normalized_mutual_info_score(classes, model.labels_)
    print(row, flush=True)
    return row, model.labels_


def recall(X: np.ndarray, graph: Any) -> float:
    """Return the share of the true neighbours of some rows that are joined to them."""
    rows = np.sort(np.random.default_rng(2).choice(len(X), CHECKED, replace=False))
    count = len(X).bit_length()
    size, found = max(1, CELLS // len(X)), []
    for first in range(0, CHECKED, size):
        part = rows[first : first + size]
        distances = cdist(X[part], X)
        distances[np.arange(len(part)), part] = np.inf
        for i, near in zip(part, np.argpartition(distances, count - 1, axis=1), strict=True):
            joined = graph.indices[graph.indptr[i] : graph.indptr[i + 1]]
            found.append(np.isin(near[:count], joined).mean())
    return float(np.mean(found))


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = work()
    return found, time.perf_counter() - start


if __name__ == "__main__":
    main()
