"""Every solver on ten graphs: seconds until the point is stationary to 1e-2 and 1e-4, and where that ends.

All solvers of a graph begin at the same random points, scaled like A. What is counted is processor time of
this process, so that other work on the machine matters little.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks._graphs import labelled_graph
from benchmarks._tools import labelled, table
from symclust import registry
from symclust.constraints import Nonnegative
from symclust.datasets import lfr, planted_partition
from symclust.graphs import cosine, nearest_neighbors, normalized_cut
from symclust.objectives import Frobenius
from symclust.operators import as_operator
from symclust.solvers import Control, Problem, run
from symclust.starts import Random

# What is too slow for a table of seconds (k products one by one, the paper's Newton, no stationary limit).
LEFT_OUT = ("columnwise", "procrustes", "multiplicative", "coordinate")
TOLERANCES = (1e-2, 1e-4)
SECONDS = 5.0  # for one run
SEEDS = (0, 1)


def main() -> None:
    names = [name for name in registry.options("solvers") if name not in LEFT_OUT]
    rows = [row for graph, A, k in graphs() for row in _race(graph, as_operator(A), k, names)]
    table("Solvers: processor seconds to a stationary point", rows)
    table("Solvers over all graphs", _over_all(rows, names))


def graphs() -> Iterator[tuple[str, Any, int]]:
    yield "digits, neighbours", nearest_neighbors(load_digits().data), 10
    yield "planted, 5,000 nodes", planted_partition(5000, 20, 15, 0.3, random_state=0)[0], 20
    yield (
        "planted, normalised cut",
        normalized_cut(planted_partition(3000, 10, 20, 0.5, random_state=1)[0]),
        10,
    )
    W, communities = lfr(2000, mixing=0.3, random_state=0)[:2]
    yield "LFR, normalised cut", normalized_cut(W), len(np.unique(communities))
    if found := labelled_graph("email_eu_core"):
        yield "email_eu_core, normalised cut", normalized_cut(found[0]), len(np.unique(found[1]))
    for name, size in (("mnist6000", 3000), ("orl_32x32", 400), ("coil20", 1440)):
        if found := labelled(name):
            X = np.asarray(found[0], dtype=float)[:: max(1, len(found[0]) // size)]
            k = len(np.unique(found[1]))
            yield f"{name}, neighbours", nearest_neighbors(X), k
            if name != "mnist6000":
                yield f"{name}, all cosines", np.asarray(cosine(X).toarray()), k


def _race(graph: str, operator: Any, k: int, names: list[str]) -> list[dict[str, Any]]:
    objective = Frobenius(operator)
    problem, n = Problem(operator, objective, Nonnegative()), operator.n
    starts = [Random().factor(objective, k, np.random.RandomState(seed)) for seed in SEEDS]
    rows = []
    for name in names:
        row: dict[str, Any] = {"graph": graph, "n": n, "k": k, "solver": name}
        runs = [_descend(problem, name, H0.copy()) for H0 in starts]
        for tol in TOLERANCES:
            row[f"s to {tol:g}"] = float(np.mean([seconds[tol] for seconds, _ in runs]))
        row["relative error"] = float(np.mean([np.sqrt(value / objective.squared_norm) for _, value in runs]))
        rows.append(row)
        print(row, flush=True)
    return rows


def _descend(problem: Problem, name: str, H: np.ndarray) -> tuple[dict[float, float], float]:
    """Return the processor seconds to each tolerance (infinite if not reached), and the last objective."""
    reached, begin = dict.fromkeys(TOLERANCES, np.inf), time.process_time()

    def note(progress: Any) -> bool:
        now = time.process_time() - begin
        for tol in TOLERANCES:
            if progress.stationarity <= tol:
                reached[tol] = min(reached[tol], now)
        return now > SECONDS

    control = Control(tol=min(TOLERANCES), max_iter=100_000, callback=note)
    result = run(problem, registry.resolve("solvers", name)(), [H], control)[0]
    if result.converged:
        reached[min(TOLERANCES)] = min(reached[min(TOLERANCES)], time.process_time() - begin)
    return reached, result.objective


def _over_all(rows: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    """Return for each solver how often it was the first, and its time beside the fastest's (median)."""
    by_graph: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        by_graph.setdefault(row["graph"], {})[row["solver"]] = row
    out = []
    for name in names:
        line: dict[str, Any] = {"solver": name}
        for tol in TOLERANCES:
            column = f"s to {tol:g}"
            best = {graph: min(row[column] for row in found.values()) for graph, found in by_graph.items()}
            own = {graph: found[name][column] for graph, found in by_graph.items()}
            line[f"fastest to {tol:g}"] = sum(own[graph] <= best[graph] < np.inf for graph in own)
            line[f"median of time / fastest, {tol:g}"] = float(np.median([own[g] / best[g] for g in own]))
        lowest = {g: min(row["relative error"] for row in found.values()) for g, found in by_graph.items()}
        errors = [by_graph[g][name]["relative error"] / lowest[g] - 1 for g in by_graph]
        line["error above the lowest, mean %"] = 100 * float(np.mean(errors))
        out.append(line)
    return out


if __name__ == "__main__":
    main()
