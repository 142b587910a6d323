"""Splitting and merging clusters beside plain restarts that take the same time."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks._tools import table
from benchmarks.speed.solvers import graphs
from symclust import SymNMF

SEEDS = (0, 1, 2)


def main() -> None:
    rows = [_compare(name, A, k) for name, A, k in graphs()]
    table("Split and merge: processor seconds and objective", rows)


def _compare(name: str, A: Any, k: int) -> dict[str, Any]:
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in SEEDS:
        once, moved = _fit(A, k, seed), _fit(A, k, seed, init="split_merge")
        n_init = max(2, round(moved[0] / once[0]))
        again = {init: _fit(A, k, seed, init=init, n_init=n_init) for init in ("auto", "merge")}
        for label, run in {"one start": once, "split_merge": moved, **again}.items():
            found.setdefault(label, []).append(run)
    row: dict[str, Any] = {"graph": name}
    for label, runs in found.items():
        row[f"{label}, s"], row[label] = (float(value) for value in np.mean(runs, axis=0))
    return row


def _fit(A: Any, k: int, seed: int, **options: Any) -> tuple[float, float]:
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SymNMF(k, affinity="precomputed", random_state=seed, **options).fit(A)
    return time.process_time() - begin, model.objective_


if __name__ == "__main__":
    main()
