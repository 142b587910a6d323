"""Images, single cells and gene expression, and embedded texts: default calls beside what people pick."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits

from benchmarks._tools import labelled
from benchmarks.quality._methods import ours, peers
from benchmarks.quality._runs import Runs, label_scores

ABOUT = """`SymNMF(k).fit(X)` and `HierarchicalSymNMF(k).fit(X)` as they are, and on values as they are:
scikit-learn's `KMeans(k, n_init=10)`, `GaussianMixture` (diagonal covariances from 40 features on),
`SpectralClustering(k, affinity="nearest_neighbors")` and `HDBSCAN`, which finds its own number, and `Genie`.
Peers with one random state."""

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
    "20newsgroups_embedded",
    "ohsumed_embedded",
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
        X, k = X.toarray() if sparse.issparse(X) else X, len(np.unique(y))
        facts = {"n": len(y), "k": k}
        runs.measure(name, ours(X, k), label_scores(y), **facts)
        runs.measure(name, peers(X, k), label_scores(y), seeds=(0,), **facts)
