"""Constrained figure 5: accuracy against λ, on inner products of unit rows, centred or as they are."""

from __future__ import annotations

import warnings
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from benchmarks._tools import RESULTS, labelled, table
from symclust import SymmetricFactorization
from symclust.metrics import clustering_accuracy
from symclust.reproduce.constrained import inner_products

FIGURE_5 = {"coil20": 5, "reuters21578_41": 12, "tdt2": 10}
WEIGHTS = (0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)


def fit(A: np.ndarray, k: int, seed: int, **options: Any) -> np.ndarray:
    model = SymmetricFactorization(k, affinity="precomputed", max_iter=200, random_state=seed, **options)
    return model.fit(A).labels_


def figure_5(axis: Any, name: str, X: Any, y: np.ndarray) -> list[dict[str, Any]]:
    """Accuracy against λ for both similarities."""
    k, rows = FIGURE_5[name], []
    chosen = np.isin(y, np.random.default_rng(100).choice(np.unique(y), k, replace=False))
    part, truth = sp.csr_array(X[chosen]), y[chosen]
    for centred in (True, False):
        A = inner_products(part, centred)
        for constraint in ("free", "nonnegative"):
            accuracy = []
            for weight in WEIGHTS:
                options = {"graph_regularization": weight, "constraint": constraint}
                runs = [clustering_accuracy(truth, fit(A, k, seed, **options)) for seed in range(3)]
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


def main() -> None:
    warnings.simplefilter("ignore")
    sets = {name: data for name in FIGURE_5 if (data := labelled(name)) is not None}
    if not sets:
        return
    figure, axes = plt.subplots(1, len(sets), figsize=(4.5 * len(sets), 4), squeeze=False)
    pairs = zip(axes[0], sets.items(), strict=True)
    rows = [row for axis, (name, data) in pairs for row in figure_5(axis, name, *data)]
    table("Constrained figure 5: accuracy against λ, means over 3 starts", rows)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False)
    figure.tight_layout(rect=(0, 0.07, 1, 1))  # room for the legend, which would hide curves
    figure.savefig(RESULTS / "constrained_figure_5.png", dpi=110)
    print(f"\nplot: {RESULTS / 'constrained_figure_5.png'}")


if __name__ == "__main__":
    main()
