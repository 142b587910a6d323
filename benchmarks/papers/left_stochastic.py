"""Leftstochastic tables 2-5 on Aural Sonar and Voting: all methods beside the paper's figures."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

from benchmarks._tools import table, timed
from benchmarks.papers._left_stochastic_methods import methods, multiplicative_as_printed
from symclust import LeftStochastic
from symclust.metrics import conditional_perplexity, misclassification_rate, within_cluster_similarity

SEEDS = 5

# (within-cluster similarity, perplexity, misclassification) of tables 3, 4 and 5
PAPER = {
    "aural_sonar": {
        "LSD (M-Upd.)": (0.44, 1.46, 0.15),
        "LSD (Rotation)": (0.44, 1.44, 0.14),
        "Hier. LSD": (0.44, 1.44, 0.14),
        "Kernel Conv. NMF": (0.44, 1.49, 0.14),
        "Hier. Kernel Conv. NMF": (0.44, 1.49, 0.14),
        "Kernel k-Means": (0.43, 1.56, 0.20),
        "Hier. Kernel k-Means": (0.43, 1.55, 0.19),
        "Unnorm. Spec.": (0.34, 1.99, 0.49),
        "Hier. Unnorm. Spec.": (0.34, 1.99, 0.49),
        "Norm. Spec": (0.44, 1.44, 0.14),
        "Hier. Norm. Spec": (0.44, 1.44, 0.14),
        "Sing. Link.": (0.33, 1.99, 0.49),
        "Comp. Link.": (0.33, 1.96, 0.47),
        "Avg. Link.": (0.36, 1.92, 0.41),
        "DIANA": (0.44, 1.52, 0.16),
    },
    "voting": {
        "LSD (M-Upd.)": (0.79, 1.33, 0.10),
        "LSD (Rotation)": (0.79, 1.33, 0.10),
        "Hier. LSD": (0.79, 1.33, 0.10),
        "Kernel Conv. NMF": (0.79, 1.34, 0.10),
        "Hier. Kernel Conv. NMF": (0.79, 1.34, 0.10),
        "Kernel k-Means": (0.79, 1.33, 0.10),
        "Hier. Kernel k-Means": (0.79, 1.33, 0.10),
        "Unnorm. Spec.": (0.79, 1.33, 0.09),
        "Hier. Unnorm. Spec.": (0.79, 1.33, 0.09),
        "Norm. Spec": (0.79, 1.33, 0.10),
        "Hier. Norm. Spec": (0.79, 1.33, 0.10),
        "Sing. Link.": (0.55, 1.94, 0.38),
        "Comp. Link.": (0.77, 1.18, 0.04),
        "Avg. Link.": (0.77, 1.22, 0.05),
        "DIANA": (0.79, 1.33, 0.10),
    },
}
NORMS = {"aural_sonar": (17, 18), "voting": (27, 28)}


def similarity(name: str) -> tuple[np.ndarray, np.ndarray] | None:
    path = Path(os.environ.get("SYMCLUST_DATA", ""), f"{name}.npz")
    if not path.exists():
        print(f"(skipped {name}: set SYMCLUST_DATA to the folder that holds {name}.npz)")
        return None
    with np.load(path, allow_pickle=False) as file:
        return file["K"].astype(float), file["y"]


def main() -> None:
    warnings.simplefilter("ignore")
    for name, paper in PAPER.items():
        data = similarity(name)
        if data is None:
            continue
        K, y = data
        k, rows = len(np.unique(y)), []
        for method, cluster in methods().items():
            seconds, labels = timed(lambda c=cluster, K=K, k=k: [c(K, k, seed) for seed in range(SEEDS)])
            measured = [
                np.mean([within_cluster_similarity(K, found) for found in labels]),
                np.mean([conditional_perplexity(y, found) for found in labels]),
                np.mean([misclassification_rate(y, found) for found in labels]),
            ]
            row = {"method": method}
            for column, ours, theirs in zip(
                ("within", "perplexity", "misclassified"), measured, paper.get(method, ("",) * 3), strict=True
            ):
                row |= {column: round(float(ours), 3), f"{column} (paper)": theirs}
            rows.append(row | {"s a run": round(seconds / SEEDS, 3)})
        table(f"Left-stochastic tables 3-5: {name}, means of {SEEDS} runs", rows)
        table(f"Left-stochastic table 2: {name}", norms(name, K, k))


def norms(name: str, K: np.ndarray, k: int) -> list[dict[str, object]]:
    rotation = LeftStochastic(k, affinity="precomputed", random_state=0).fit(K)
    descent = LeftStochastic(k, affinity="precomputed", solver="multiplicative", random_state=0).fit(K)
    printed = np.mean([multiplicative_as_printed(K, k, seed)[1] for seed in range(SEEDS)])
    return [
        {"algorithm": "rotation", "‖K − PPᵀ/c‖": rotation.objective_**0.5, "paper": NORMS[name][0]},
        {"algorithm": "multiplicative as printed", "‖K − PPᵀ/c‖": printed, "paper": NORMS[name][1]},
        {"algorithm": "multiplicative with multipliers", "‖K − PPᵀ/c‖": descent.objective_**0.5, "paper": ""},
    ]


if __name__ == "__main__":
    main()
