"""Every solver on digits, COIL-20 and ORL: stationarity and agreement."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks._tools import labelled, table, timed
from symclust import SymNMF, registry
from symclust.graphs import nearest_neighbors
from symclust.metrics import clustering_accuracy

STARTS, TOL = 10, 1e-4


def data() -> dict[str, tuple[Any, np.ndarray]]:
    sets = {
        "ORL": labelled("orl_32x32"),
        "digits": load_digits(return_X_y=True),
        "COIL-20": labelled("coil20"),
    }
    return {name: (nearest_neighbors(pair[0]), pair[1]) for name, pair in sets.items() if pair is not None}


def finite_difference(A: Any, H: np.ndarray, entries: int = 400, seed: int = 0) -> float:
    """Largest |∇ᴾf| entry among random ones, by central differences of f in extended precision."""
    A, H = A.toarray().astype(np.longdouble), H.astype(np.longdouble)
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, H.shape[0], entries), rng.integers(0, H.shape[1], entries)
    # f as a function of one entry is a quartic
    step = np.longdouble(1e-5) * H.max()
    worst = 0.0
    for i, l in zip(rows, columns, strict=True):
        slope = (_row_value(A, H, i, l, step) - _row_value(A, H, i, l, -step)) / (2 * step)
        worst = max(worst, float(abs(slope) if H[i, l] > step else max(-slope, 0)))
    return worst


def _row_value(A: np.ndarray, H: np.ndarray, i: int, l: int, step: np.longdouble) -> np.longdouble:
    """Return the part of ‖A − HHᵀ‖² that row i enters, with one entry moved."""
    h = H[i].copy()
    h[l] += step
    residual = A[i] - H @ h
    residual[i] = A[i, i] - h @ h
    return 2 * np.sum(residual**2) - residual[i] ** 2


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name, (A, y) in data().items():
        k, best = len(np.unique(y)), {}
        for solver in registry.options("solvers"):
            limit = 500 if solver == "multiplicative" else 20_000
            options = {"solver": solver, "init": "random", "n_init": STARTS, "tol": TOL, "max_iter": limit}
            model = SymNMF(k, affinity="precomputed", time_limit=120, random_state=0, **options)
            time, model = timed(lambda model=model, A=A: model.fit(A))
            best[solver] = model.inits_.min()
            row = {
                "data": name,
                "solver": solver,
                "s (10 starts)": time,
                "best objective": model.objective_,
                "converged": model.converged_,
                "iterations": model.n_iter_,
                "largest |∇ᴾf| by differences": finite_difference(A, model.membership_),
                "accuracy": clustering_accuracy(y, model.labels_),
            }
            print(row, flush=True)
            rows.append(row)
        lowest = min(best.values())
        for row in rows:
            if row["data"] == name:
                row["above the best solver, %"] = 100 * (row["best objective"] / lowest - 1)
    table("Solvers: best of 10 random starts, tol 1e-4", rows)


if __name__ == "__main__":
    main()
