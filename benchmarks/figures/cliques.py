"""Offdiagonal figures 1 and 2: cliques with random and adversarial noise, greedy start, default settings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from benchmarks._tools import RESULTS, table
from symclust import OffDiagonalSymNMF, SymNMF
from symclust.datasets import adversarial_cliques, noisy_cliques
from symclust.metrics import factor_accuracy

REPETITIONS = 30
MODELS = ("OD-ℓ1", "OD-ℓ2", "Sym")

Case = Callable[[int], tuple[Any, np.ndarray]]


def accuracies(case: Case, model: str) -> np.ndarray:
    """factor_accuracy in % of every repetition; the repetition's number seeds the data and the start."""
    found = []
    for seed in range(REPETITIONS):
        A, H_true = case(seed)
        fitted = make(model, H_true.shape[1], seed).fit(A)
        found.append(100 * factor_accuracy(H_true, fitted.membership_))
    return np.array(found)


def make(model: str, k: int, seed: int) -> Any:
    options = {"affinity": "precomputed", "init": "greedy", "random_state": seed}
    if model == "Sym":
        return SymNMF(k, solver="coordinate", **options)
    return OffDiagonalSymNMF(k, loss="absolute" if model == "OD-ℓ1" else "squared", **options)


def figure(name: str, label: str, cases: dict[float, Case], marks: tuple[float, float | None]) -> None:
    """Mean accuracy and its spread over the repetitions against the amount of noise, greedy start."""
    rows, (x_mark, y_mark) = [], marks
    for level, case in cases.items():
        found = {model: accuracies(case, model) for model in MODELS}
        row = {label: level} | {model: round(values.mean(), 2) for model, values in found.items()}
        rows.append(row | {f"{model} deviation": round(values.std(), 2) for model, values in found.items()})
        print(rows[-1], flush=True)
    table(f"{name}, accuracy in %, 30 repetitions", rows)
    ax = plt.figure(figsize=(6, 4)).add_subplot()
    for model in MODELS:
        mean, spread = (np.array([row[key] for row in rows]) for key in (model, f"{model} deviation"))
        (line,) = ax.plot(list(cases), mean, marker="o", markersize=3, label=model)
        ax.fill_between(list(cases), mean - spread, mean + spread, color=line.get_color(), alpha=0.15)
    ax.axvline(x_mark, color="gray", linewidth=0.8, linestyle="--")
    if y_mark is not None:
        ax.axhline(y_mark, color="gray", linewidth=0.8, linestyle="--")
    ax.set(xlabel=label, ylabel="accuracy in %", ylim=(40, 102), title=name)
    ax.legend()
    path = RESULTS / f"cliques_{label.replace(' ', '_')}.png"
    ax.figure.tight_layout()
    ax.figure.savefig(path, dpi=110)
    print(f"\nplot: {path}")


def main() -> None:
    warnings.simplefilter("ignore")
    levels = (0, 0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25, 0.275, 0.3)
    random_noise = {
        level: lambda seed, level=level: noisy_cliques([10] * 10, level, random_state=seed)
        for level in levels
    }
    figure("Figure 1: ten cliques of 10, random noise", "noise", random_noise, (0.15, 90))
    links = {
        links: lambda seed, links=links: adversarial_cliques(10, 2, 10, links, random_state=seed)
        for links in range(11)
    }
    figure("Figure 2: two cliques of 10 and 10 outsiders", "links to each clique", links, (5, None))


if __name__ == "__main__":
    main()
