"""Constrained tables II and III: COIL-20, Reuters and TDT2, ten random subsets of classes each.

Section V leaves open how the data are prepared, λ, and how labels are read off H. The authors' published code
(experiment_objective.m) says: features centred, rows scaled to length 1, A = XXᵀ, λ = 0.5, a normal random
start, 20 steps, k-means on the rows of H. That is the first row of each table here ("as published"). The
others converge, with and without the regulariser, and with A also from rows that are not centred, with tf-idf
weights, and from nearest neighbours.

`python -m benchmarks.papers constrained` runs all; SUBSETS in the environment sets how many (10).
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score

from benchmarks._tools import RESULTS, labelled, table
from symclust import SymmetricFactorization
from symclust.graphs import nearest_neighbors
from symclust.metrics import clustering_accuracy

SUBSETS = int(os.environ.get("SUBSETS", "10"))
# NMI and accuracy of "Ours" in tables II and III.
PAPER = {
    "coil20": {2: (0.958, 0.975), 10: (0.797, 0.815), 20: (0.725, 0.787)},
    "reuters21578_41": {2: (0.901, 0.922), 8: (0.798, 0.823), 15: (0.755, 0.782)},
    "tdt2": {2: (0.861, 0.878), 10: (0.729, 0.756), 20: (0.705, 0.736)},
}
# Two of Reuters' 41 classes hold 70 % of its documents: subsets are also drawn from the other 39.
WITHOUT = {"reuters21578_41": (0, 2)}
FIGURE_5 = {"coil20": 5, "reuters21578_41": 12, "tdt2": 10}
WEIGHTS = (0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
AS_PUBLISHED = {
    "graph_regularization": 0.5,
    "init": "random",
    "step_rule": "adaptive",
    "max_iter": 20,
    "tol": 0.0,
}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {  # similarity, options
    "as published": ("centred", AS_PUBLISHED),
    "free, centred, λ = 0": ("centred", {}),
    "free, centred, λ = 0.5": ("centred", {"graph_regularization": 0.5}),
    "free, plain, λ = 0": ("plain", {}),
    "free, plain, λ = 0.1": ("plain", {"graph_regularization": 0.1}),
    "nonnegative, plain, λ = 0": ("plain", {"constraint": "nonnegative"}),
    "nonnegative, plain, λ = 0.1": ("plain", {"constraint": "nonnegative", "graph_regularization": 0.1}),
    "free, tf-idf, λ = 0": ("tf-idf", {}),
    "free, tf-idf, λ = 0.1": ("tf-idf", {"graph_regularization": 0.1}),
    "nonnegative, neighbours, λ = 0": ("neighbours", {"constraint": "nonnegative"}),
    "nonnegative, neighbours, λ = 0.1": (
        "neighbours",
        {"constraint": "nonnegative", "graph_regularization": 0.1},
    ),
}


def read(name: str) -> tuple[sp.csr_array, np.ndarray] | None:
    data = labelled(name)
    return None if data is None else (sp.csr_array(data[0]), data[1])


def inner_products(X: sp.csr_array, centred: bool) -> np.ndarray:
    """Return XXᵀ of unit rows, after centring the features if wanted; a centred sparse X is not formed."""
    A = (X @ X.T).toarray()
    if centred:
        mean = np.asarray(X.mean(axis=0)).reshape(-1)
        shift = X @ mean
        A += mean @ mean - shift - shift[:, None]
    lengths = np.sqrt(np.maximum(A.diagonal(), 1e-300))
    return A / lengths / lengths[:, None]


def subset(
    X: Any, y: np.ndarray, k: int, rng: np.random.Generator, without: int = 0
) -> tuple[Any, np.ndarray]:
    """Return the samples of k random classes, none of the `without` largest among them."""
    pool = np.sort(np.argsort(-np.bincount(y), kind="stable")[without:])
    chosen = np.flatnonzero(np.isin(y, rng.choice(pool, k, replace=False)))
    return X[chosen], y[chosen]


def fit(A: np.ndarray, k: int, seed: int, options: dict[str, Any]) -> SymmetricFactorization:
    options = {"tol": 1e-2, "max_iter": 200, **options}
    return SymmetricFactorization(k, affinity="precomputed", random_state=seed, **options).fit(A)


def measures(y: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    return normalized_mutual_info_score(y, labels), clustering_accuracy(y, labels)


def similarities(X: sp.csr_array, is_text: bool) -> dict[str, Any]:
    """Return inner products of unit rows, with features centred, as they are, or weighted, and a graph."""
    found = {"centred": inner_products(X, True), "plain": inner_products(X, False)}
    found["neighbours"] = nearest_neighbors(X if is_text else X.toarray())
    if is_text:
        found["tf-idf"] = inner_products(sp.csr_array(TfidfTransformer().fit_transform(X)), False)
    return found


def one_cell(
    X: Any, y: np.ndarray, k: int, is_text: bool, without: int
) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(SUBSETS):
        part, truth = subset(X, y, k, np.random.default_rng(seed), without)
        matrices = similarities(part, is_text)
        for method, (kind, options) in METHODS.items():
            if kind not in matrices:
                continue
            model = fit(matrices[kind], k, seed, options)
            found.setdefault(method, []).append(measures(truth, model.labels_))
            if model.centers_ is not None:
                largest = model.membership_.argmax(axis=1)
                found.setdefault(f"{method}, argmax", []).append(measures(truth, largest))
        unit = part / np.sqrt(np.maximum(part.multiply(part).sum(axis=1), 1e-300))[:, None]
        labels = KMeans(k, n_init=3, random_state=seed).fit_predict(sp.csr_matrix(unit))
        found.setdefault("k-means on unit rows", []).append(measures(truth, labels))
    return found


def figure_5(axis: Any, name: str, X: Any, y: np.ndarray) -> list[dict[str, Any]]:
    """Accuracy against λ for both similarities."""
    k, rows = FIGURE_5[name], []
    part, truth = subset(X, y, k, np.random.default_rng(100))
    for centred in (True, False):
        A = inner_products(part, centred)
        for constraint in ("free", "nonnegative"):
            accuracy = []
            for weight in WEIGHTS:
                options = {"graph_regularization": weight, "constraint": constraint}
                runs = [measures(truth, fit(A, k, seed, options).labels_)[1] for seed in range(3)]
                accuracy.append(np.mean(runs))
            label = f"{constraint}, {'centred' if centred else 'not centred'}"
            axis.plot(WEIGHTS, accuracy, "o-", label=label)
            rows.append(
                {
                    "data": f"{name}, {k} classes",
                    "method": label,
                    **dict(zip(map(str, WEIGHTS), accuracy, strict=True)),
                }
            )
    axis.set(title=f"{name}, {k} classes", xlabel="λ", ylabel="accuracy", ylim=(0, 1))
    return rows


def cell_rows(
    name: str, k: int, without: int, paper: tuple[float, float], found: dict[str, list[tuple[float, float]]]
) -> list[dict[str, Any]]:
    cell = {"data": f"{name}, {k} classes" + (f" but the {without} largest" if without else "")}
    means = {"the paper's": paper, **{method: np.mean(runs, axis=0) for method, runs in found.items()}}
    rows = [{**cell, "method": method, "NMI": m[0], "accuracy": m[1]} for method, m in means.items()]
    for row in rows:
        print(row, flush=True)
    return rows


def main() -> None:
    warnings.simplefilter("ignore")
    sets = {name: data for name in PAPER if (data := read(name)) is not None}
    rows = []
    for name, (X, y) in sets.items():
        for without in WITHOUT.get(name, (0,)):
            for k, paper in PAPER[name].items():
                rows += cell_rows(name, k, without, paper, one_cell(X, y, k, name != "coil20", without))
    table(f"Constrained tables II and III, means over {SUBSETS} random subsets", rows)
    if sets:
        figure, axes = plt.subplots(1, len(sets), figsize=(4.5 * len(sets), 4), squeeze=False)
        table(
            "Constrained figure 5: accuracy against λ, means over 3 starts",
            [
                row
                for axis, (name, data) in zip(axes[0], sets.items(), strict=True)
                for row in figure_5(axis, name, *data)
            ],
        )
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False)
        figure.tight_layout(rect=(0, 0.07, 1, 1))  # room for the legend, which would hide curves
        figure.savefig(RESULTS / "constrained_figure_5.png", dpi=110)
        print(f"\nplot: {RESULTS / 'constrained_figure_5.png'}")


if __name__ == "__main__":
    main()
