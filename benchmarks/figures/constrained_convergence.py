"""Constrained figures 3 and 4: how fast the solvers descend, one run, from the same start.

Synthetic data as in the authors' published demo, M = UUᵀ with U uniform of 20 x 5, and the same with 500 x 10
and noise. Left: nonnegative factors, against time; middle: against iterations; right: step rules of projected
gradient.
"""

from __future__ import annotations

import warnings
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from benchmarks._tools import RESULTS, table
from symclust import _kernels, registry
from symclust.constraints import Nonnegative
from symclust.objectives import Frobenius
from symclust.operators import Dense
from symclust.solvers import Control, Problem, Result, Solver, run
from symclust.solvers._base import ProductSolver, State, Steps
from symclust.solvers.projected_gradient import lipschitz, start_estimate

ITERATIONS, SECONDS = 2000, 10.0


class FixedSteps(ProductSolver):
    """Projected gradient whose steps are given: 1/(2L) of the first point, the same ever after or ∝ 1/√i."""

    constraint_needs = frozenset()

    def __init__(self, power: float) -> None:
        self.power = power

    def step(self, problem: Problem, state: State) -> Steps:
        if state.AH is None:
            state.move(state.H, (yield state.H))
        H, AH, G = state.H, state.AH, _kernels.gram(state.H)[0]
        if "size" not in state.memory:
            yield from start_estimate(state)
            state.memory["size"], state.memory["count"] = 1 / (2 * lipschitz(state, G)), 0
        state.memory["count"] += 1
        size = state.memory["size"] / state.memory["count"] ** self.power
        H = problem.constraint.project(H - size * problem.objective.gradient(H, AH, G))
        state.move(H, (yield H))


def contenders() -> dict[str, Solver]:
    gradient, columnwise = (
        registry.resolve("solvers", name) for name in ("projected_gradient", "columnwise")
    )
    return {
        "column-wise, coupling of corollary 1": columnwise(),
        "column-wise, coupling 1 (their demo)": columnwise(1.0),
        "projected gradient, fixed step": FixedSteps(0.0),
        "projected gradient, diminishing step": FixedSteps(0.5),
        "projected gradient, adaptive step": gradient("adaptive"),
        "projected gradient, accelerated": gradient("accelerated"),
        "projected gradient, line search": gradient("search"),
        "ANLS": registry.resolve("solvers", "anls")(),
        "Newton-like": registry.resolve("solvers", "newton")(),
        "row descent": registry.resolve("solvers", "row_descent")(),
    }


def problems() -> dict[str, tuple[np.ndarray, int]]:
    rng = np.random.default_rng(2018)
    U, V = rng.random((20, 5)), rng.random((500, 10)) * (rng.random((500, 10)) < 0.3)
    noise = rng.normal(size=(500, 500))
    return {"20 x 5, exact": (U @ U.T, 5), "500 x 10, noise": (V @ V.T + 0.05 * (noise + noise.T), 10)}


def race(name: str, M: np.ndarray, k: int) -> list[dict[str, Any]]:
    operator = Dense(M)
    problem = Problem(operator, Frobenius(operator), Nonnegative())
    H0, norm = np.random.default_rng(0).random((len(M), k)), problem.objective.squared_norm
    results: dict[str, Result] = {}
    for label, solver in contenders().items():
        run(problem, solver, [H0.copy()], Control(tol=0.0, max_iter=3))  # libraries and threads are there now
        results[label] = run(
            problem,
            contenders()[label],
            [H0.copy()],
            Control(tol=1e-9, max_iter=ITERATIONS, time_limit=SECONDS),
        )[0]
    best = min(result.objective for result in results.values())
    draw(name, results, norm)
    return [row(name, label, result, best, norm) for label, result in results.items()]


def row(name: str, label: str, result: Result, best: float, norm: float) -> dict[str, Any]:
    history = result.history
    near = np.flatnonzero(history.objective <= best + 1e-4 * norm)
    return {
        "problem": name,
        "solver": label,
        "E at the end": result.objective / norm,
        "iterations": result.n_iter,
        "s to E within 1e-4 of the best": history.seconds[near[0]] if near.size else float("nan"),
        "iterations to it": int(history.iteration[near[0]]) if near.size else "never",
        "rose": int(np.sum(np.diff(history.objective) > 1e-12 * norm)),
    }


def draw(name: str, results: dict[str, Result], norm: float) -> None:
    figure, axes = plt.subplots(1, 3, figsize=(16, 4.5))
    for label, result in results.items():
        E = np.maximum(result.history.objective / norm, 1e-16)
        if label.startswith("projected gradient"):
            axes[2].loglog(np.maximum(result.history.iteration, 0.5), E, label=label.split(", ")[1])
        if not label.endswith(("fixed step", "diminishing step", "line search")):
            axes[0].loglog(np.maximum(result.history.seconds, 1e-4), E, label=label)
            axes[1].loglog(np.maximum(result.history.iteration, 0.5), E, label=label)
    for axis, (title, below) in zip(
        axes,
        [("objective", "seconds"), ("objective", "iterations"), ("step rules", "iterations")],
        strict=True,
    ):
        axis.set(title=f"{title}, {name}", xlabel=below, ylabel="‖M − HHᵀ‖² / ‖M‖²")
    axes[0].legend(fontsize=7)
    axes[2].legend(fontsize=7)
    figure.tight_layout()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"constrained_figures_3_4_{'exact' if 'exact' in name else 'noise'}.png"
    figure.savefig(path, dpi=110)
    print(f"plot: {path}")


def main() -> None:
    warnings.simplefilter("ignore")
    rows = [row for name, (M, k) in problems().items() for row in race(name, M, k)]
    table("Constrained figures 3 and 4: descent of the solvers, nonnegative factors", rows)


if __name__ == "__main__":
    main()
