"""Tables as people have them, and sets of measurements: default calls beside what people pick."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import symclust
from benchmarks.quality._methods import ours, peers, standardised
from benchmarks.quality._runs import Runs, label_scores

ABOUT = """`SymNMF(k).fit(symclust.read(csv))` and `HierarchicalSymNMF(k).fit(...)` as they are, and on arrays
for sets without a table; the others, as in `vectors`, on the columns of numbers, standardised, with the mean
of the column for gaps. Rules of the plan for a table were chosen on labels of the raw tables."""

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


def main() -> None:
    runs = Runs("tables", ABOUT)
    for name, X, numbers, y in sets():
        k = len(np.unique(y))
        facts = {"n": len(y), "k": k}
        runs.measure(name, ours(X, k), label_scores(y), **facts)
        runs.measure(name, peers(standardised(numbers), k), label_scores(y), seeds=(0,), **facts)
