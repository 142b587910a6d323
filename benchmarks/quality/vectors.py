"""Images, single cells and gene expression: default calls beside spectral clustering and k-means."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from benchmarks._tools import labelled
from benchmarks.quality._methods import ours, spectral
from benchmarks.quality._runs import Runs, label_scores
from symclust.graphs import nearest_neighbors

ABOUT = """`SymNMF(k).fit(X)` and `HierarchicalSymNMF(k).fit(X)` as they are; spectral clustering of the
papers' graph (`graphs.nearest_neighbors(X, normalize=False)`); scikit-learn's `KMeans(k, n_init=10)`."""

SETS = (
    "coil20",
    "orl_32x32",
    "mnist6000",
    "yaleb_32x32",
    "pie_pose27",
    "digits",
    "pbmc68k_reduced",
    "buettner_mesc",
    "khan_srbct",
    "tox171",
)


def read(name: str) -> tuple[Any, np.ndarray] | None:
    if name == "digits":
        return load_digits(return_X_y=True)
    data = labelled(name)
    return data and (data[0] * scale(name), data[1])


def scale(name: str) -> float:
    """Return what stored whole numbers are to be multiplied with."""
    with np.load(Path(os.environ["SYMCLUST_DATA"], f"{name}.npz"), allow_pickle=False) as file:
        return float(file["X_scale"]) if "X_scale" in file else 1 / float(file.get("scale", 1))


def main() -> None:
    runs = Runs("vectors", ABOUT)
    for name in SETS:
        data = read(name)
        if data is None:
            continue
        X, y = data
        k = len(np.unique(y))
        methods = {
            **ours(X, k),
            **spectral(lambda X=X: nearest_neighbors(X, normalize=False), k),
            "k-means": lambda seed, X=X, k=k: KMeans(k, n_init=10, random_state=seed).fit(X).labels_,
        }
        runs.measure(name, methods, label_scores(y), n=len(y), k=k)
