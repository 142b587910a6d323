"""Leftstochastic theory: exact factors are recovered, and perturbed ones nearly (theorem 5)."""

from __future__ import annotations

import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from benchmarks._tools import RESULTS, table, timed
from symclust import LeftStochastic
from symclust.metrics import clustering_accuracy

REPETITIONS = 5


def main() -> None:
    warnings.simplefilter("ignore")
    table("Left-stochastic: K = PPᵀ from random P, n = 300", [exact(k) for k in (2, 3, 5, 10)])
    curves = {k: perturbed(k) for k in (3, 5)}
    table("Left-stochastic theorem 5: perturbed K", [row for rows in curves.values() for row in rows])
    draw(curves)


def exact(k: int) -> dict[str, object]:
    objectives, accuracies, times = [], [], []
    for seed in range(REPETITIONS):
        P = np.random.default_rng(seed).dirichlet(np.full(k, 0.15), 300)
        model = LeftStochastic(k, affinity="precomputed", random_state=seed)
        time, _ = timed(lambda m=model, P=P: m.fit(P @ P.T))
        found = model.membership_
        objectives.append(np.linalg.norm(P @ P.T - found @ found.T / model.scale_) ** 2)
        accuracies.append(clustering_accuracy(P.argmax(axis=1), model.labels_))
        times.append(time)
    return {
        "k": k,
        "largest objective": max(objectives),
        "least accuracy": min(accuracies),
        "mean s": np.mean(times),
    }


def perturbed(k: int, n: int = 200) -> list[dict[str, float]]:
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(k, 0.15), n)
    K = P @ P.T
    W = rng.normal(size=(n, n))
    W = (W + W.T) / np.linalg.norm(W + W.T)
    rows = []
    for size in np.logspace(-6, 0, 13):
        epsilon = size * np.linalg.norm(K)
        model = LeftStochastic(k, affinity="precomputed", random_state=0).fit(K + epsilon * W)
        found = model.membership_ / np.sqrt(model.scale_)
        U, _, Vt = np.linalg.svd(found.T @ P)
        root = np.sqrt(np.trace(K))
        smallest = np.linalg.eigvalsh(K + epsilon * W)[-k]
        rows.append(
            {
                "k": k,
                "ε": epsilon,
                "‖K − P̂P̂ᵀ‖": np.linalg.norm(K - found @ found.T),
                "bound 2ε": 2 * epsilon,
                "‖P − P̂R‖": np.linalg.norm(P - found @ (U @ Vt)),
                "bound (11), C₁ = 1": epsilon * (1 + np.sqrt(k) / smallest * (root + epsilon)),
            }
        )
    return rows


def draw(curves: dict[int, list[dict[str, float]]]) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    objective, factor = axes
    # 2ε is the same line whatever k is.
    epsilon = np.array(sorted(row["ε"] for rows in curves.values() for row in rows))
    objective.loglog(epsilon, 2 * epsilon, "--", color="0.35", label="bound 2ε")
    for (k, rows), marker in zip(curves.items(), "os", strict=True):
        size = [row["ε"] for row in rows]
        for ax, measured in ((objective, "‖K − P̂P̂ᵀ‖"), (factor, "‖P − P̂R‖")):
            (line,) = ax.loglog(size, [row[measured] for row in rows], f"{marker}-", ms=4, label=f"k = {k}")
        bound = [row["bound (11), C₁ = 1"] for row in rows]
        factor.loglog(size, bound, "--", color=line.get_color(), label=f"bound (11), C₁ = 1, k = {k}")
    objective.set(title="Error of the similarity", ylabel="‖K − P̂P̂ᵀ‖")
    factor.set(title="Error of the factor", ylabel="‖P − P̂R‖")
    for ax in axes:
        ax.set_xlabel("size ε of the perturbation")
        ax.grid(linewidth=0.4, alpha=0.35)
        ax.legend(frameon=False, fontsize=9)
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "left_stochastic_perturbation.png", dpi=110)
    print(f"\nplot: {RESULTS / 'left_stochastic_perturbation.png'}")


if __name__ == "__main__":
    main()
