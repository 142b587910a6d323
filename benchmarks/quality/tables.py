"""Tables as people have them, and sets of measurements: default calls beside k-means on standard units."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import symclust
from benchmarks.quality._methods import ours
from benchmarks.quality._runs import Runs, label_scores

ABOUT = """`SymNMF(k).fit(symclust.read(csv))` and `HierarchicalSymNMF(k).fit(...)` as they are, and on arrays
for sets without a table; scikit-learn's `KMeans(k, n_init=10)` on the columns of numbers, standardised, with
the mean of the column for gaps. Rules of the plan for a table were chosen on labels of the raw tables."""

ARRAYS = {"wine": load_wine, "iris": load_iris, "breast_cancer": load_breast_cancer}


def sets() -> Iterator[tuple[str, Any, np.ndarray, np.ndarray]]:
    """Yield the name of each set, what `fit` is given, the numbers for k-means, and the classes."""
    folder = Path(os.environ.get("SYMCLUST_DATA", "missing"))
    for path in sorted(folder.glob("tables/*.csv")):
        if path.name.endswith(".classes.csv"):
            continue
        classes = pd.read_csv(path.with_suffix(".classes.csv"), keep_default_na=False)["class"]
        numbers = pd.read_csv(path).select_dtypes("number").dropna(axis=1, how="all")
        numbers = numbers.drop(columns="rownames", errors="ignore")
        yield path.stem, symclust.read(path), numbers.fillna(numbers.mean()).to_numpy(), codes(classes)
    for name, load in ARRAYS.items():
        X, y = load(return_X_y=True)
        yield name, X, X, y
    if (folder / "tabular.npz").exists():
        with np.load(folder / "tabular.npz", allow_pickle=False) as file:
            for name in sorted({key.removesuffix(".X") for key in file if key.endswith(".X")}):
                X = file[f"{name}.X"].astype(float)
                yield name, X, X, codes(file[f"{name}.y"])


def codes(classes: Any) -> np.ndarray:
    return np.unique(classes, return_inverse=True)[1]


def k_means(numbers: np.ndarray, k: int, seed: int) -> np.ndarray:
    return KMeans(k, n_init=10, random_state=seed).fit(StandardScaler().fit_transform(numbers)).labels_


def main() -> None:
    runs = Runs("tables", ABOUT)
    for name, X, numbers, y in sets():
        k = len(np.unique(y))
        methods = {
            **ours(X, k),
            "k-means, standardised": lambda seed, numbers=numbers, k=k: k_means(numbers, k, seed),
        }
        runs.measure(name, methods, label_scores(y), n=len(y), k=k)
