"""Symnmf 4.2: 303 points whose leading eigenvalues cannot be told apart in double precision."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from benchmarks._tools import RESULTS, table
from symclust import SymNMF
from symclust.graphs import gaussian
from symclust.metrics import clustering_accuracy

STARTS = 20


def njw(A: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Ng, Jordan and Weiss: k-means on the unit rows of the leading eigenvectors."""
    _, vectors = np.linalg.eigh(A)
    rows = vectors[:, -k:]
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    return KMeans(k, init="random", n_init=1, random_state=seed).fit_predict(rows)


def main() -> None:
    warnings.simplefilter("ignore")
    folder = os.environ.get("SYMCLUST_DATA")
    if not folder or not Path(folder, "zelnik_toy.npz").exists():
        print("(skipped: set SYMCLUST_DATA to the folder that holds zelnik_toy.npz)")
        return
    with np.load(Path(folder, "zelnik_toy.npz"), allow_pickle=False) as file:
        X, y = file["X2"], file["y2"]
    A = gaussian(X, sigma=0.05, normalize=True)
    rows, shown = [], {}
    for name, cluster in {
        "SymNMF, random starts": lambda seed: _fit(A, seed, "random"),
        "SymNMF, merge starts": lambda seed: _fit(A, seed, "merge"),
        "spectral clustering (NJW)": lambda seed: njw(A, 3, seed),
    }.items():
        labels = [cluster(seed) for seed in range(STARTS)]
        accuracy = [clustering_accuracy(y, found) for found in labels]
        shown[name] = labels[int(np.argsort(accuracy)[STARTS // 2])]
        rows.append(
            {
                "method": name,
                "mean accuracy": np.mean(accuracy),
                "least": min(accuracy),
                "most": max(accuracy),
            }
        )
    table("Narrow eigengap: 303 points, 20 starts", rows)
    _draw(X, y, shown)


def _fit(A: np.ndarray, seed: int, init: str) -> np.ndarray:
    options = {"init": init, "tol": 1e-4, "max_iter": 2000, "random_state": seed}
    return SymNMF(3, affinity="precomputed", **options).fit(A).labels_


def _draw(X: np.ndarray, y: np.ndarray, shown: dict[str, np.ndarray]) -> None:
    panels = {
        "classes": y,
        **{name: shown[name] for name in ("SymNMF, random starts", "spectral clustering (NJW)")},
    }
    figure, axes = plt.subplots(1, len(panels), figsize=(4 * len(panels), 4))
    for ax, (name, labels) in zip(axes, panels.items(), strict=True):
        ax.scatter(*X.T, c=labels, cmap="tab10", s=8, vmin=0, vmax=9)
        ax.set(title=name, xticks=[], yticks=[])
    figure.tight_layout()
    figure.savefig(RESULTS / "eigengap.png", dpi=110)
    print(f"\nplot: {RESULTS / 'eigengap.png'}")


if __name__ == "__main__":
    main()
