"""Thesis 4.3, figures 12 and 13: one Gaussian, clustered into two from 50 starts and on 50 subsets.

Readings: each feature is shifted by its minimum, as in Algorithm 3, and NMF runs to tol=1e-6: at the default
of 1e-3 runs stop on their way to one and the same point. A Gaussian with 2,000 independent features is shown
beside one with correlated features. The factors of the former have hardly a zero, so that mixtures of them
fit as well: all starts find the same plane, but not the same border in it.
"""

from __future__ import annotations

import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from benchmarks._tools import RESULTS, table, timed
from symclust import NMF
from symclust.plotting import plot_consensus
from symclust.selection import Features, Selection, Study
from symclust.selection.methods.consensus import Consensus, ConsensusInit

RUNS, SAMPLES, FEATURES = 50, 200, 2000
METHODS = {"50 starts": ConsensusInit(RUNS), "50 subsets of 80 %": Consensus(RUNS, 0.8)}


def single_gaussians(seed: int = 0) -> dict[str, np.ndarray]:
    """Return three samples of one Gaussian each, made nonnegative."""
    rng = np.random.RandomState(seed)
    flat, high, other = (rng.normal(size=(SAMPLES, d)) for d in (2, FEATURES, FEATURES))
    turn = np.linalg.qr(rng.normal(size=(FEATURES, FEATURES)))[0]
    found = {
        "2 features": flat,
        "2,000 independent features": high,
        "2,000 correlated features": other * np.arange(1.0, FEATURES + 1) ** -0.75 @ turn,
    }
    return {name: X - X.min(axis=0) for name, X in found.items()}


def main() -> None:
    warnings.simplefilter("ignore")
    rows, found = [], {}
    for name, X in single_gaussians().items():
        for method, choose in METHODS.items():
            study = Study(Features(X), NMF(init="random", tol=1e-6), (2,), np.random.RandomState(0))
            seconds, selection = timed(lambda choose=choose, study=study: choose.choose(study))
            found[name, method] = selection
            rows.append({"one Gaussian": name, "k = 2": method, **_measures(selection), "seconds": seconds})
    table("Consensus of one Gaussian, NMF with k = 2", rows)
    _draw(found)


def _measures(selection: Selection) -> dict[str, str]:
    curves = [(name, selection.curves[name]) for name in ("cophenetic correlation", "dispersion")]
    return {name: f"{curve.values[0]:.4f} ± {curve.spread[0]:.4f}" for name, curve in curves}


def _draw(found: dict[tuple[str, str], Selection]) -> None:
    names = list(dict.fromkeys(name for name, _ in found))
    figure, axes = plt.subplots(2, len(names), figsize=(4.4 * len(names), 7.6), layout="constrained")
    for column, name in zip(axes.T, names, strict=True):
        for ax, method in zip(column, METHODS, strict=True):
            selection = found[name, method]
            plot_consensus(selection, 2, ax)
            ax.set_title(f"{name}, {method}\ncophenetic correlation {selection.scores[0]:.3f}", fontsize=10)
    figure.savefig(RESULTS / "consensus_flaw.png", dpi=110)
    print(f"\nplot: {RESULTS / 'consensus_flaw.png'}")


if __name__ == "__main__":
    main()
