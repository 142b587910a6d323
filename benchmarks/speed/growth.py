"""How time and memory grow with nodes, with nonzeros and with clusters; one of them varies at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.metrics import normalized_mutual_info_score

from benchmarks._graphs import power_law_graph
from benchmarks._tools import RESULTS, table
from benchmarks.speed._graph_methods import igraph_leiden, spectral_lobpcg, symnmf, tree
from benchmarks.speed._page import draw_lines
from benchmarks.speed._peers import run, stored

NODES, DEGREE, CLUSTERS = 50_000, 20, 20  # of those that do not vary
SIZES = (12_500, 25_000, 50_000, 100_000, 200_000)
DEGREES = (20, 40, 80, 160)  # at least 15 a node: SymNMF takes walks on sparser small graphs
NUMBERS = (5, 10, 20, 40, 80)
SECONDS = 30.0  # a method that takes longer is not asked about larger ones
VARIED = {
    "nodes": [(n, DEGREE, CLUSTERS) for n in SIZES],
    "nonzeros": [(NODES, degree, CLUSTERS) for degree in DEGREES],
    "clusters": [(NODES, DEGREE, k) for k in NUMBERS],
}
METHODS = (tree, symnmf, igraph_leiden, spectral_lobpcg)
COLUMNS = ("s", "processor s", "peak (MB)", "before (MB)", "why not")


def main() -> None:
    for name in VARIED:
        vary(name)
    print(f"\nplot: {draw()}")


def vary(name: str) -> None:
    rows = measure(VARIED[name])
    plots = [{"x": name, "y": measured, "by": "method"} for measured in ("s", "peak (MB)")]
    table(f"Growth with {name}", rows, plots)
    table(f"Growth with {name}: exponents", exponents(rows, name))


def measure(cases: Iterable[tuple[int, float, int]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    slow: set[str] = set()
    for n, degree, k in cases:
        A, y = power_law_graph(n, k, degree)
        with stored(A) as folder:
            for peer in METHODS:
                if peer.name not in slow:
                    options = {} if peer is igraph_leiden else {"k": k}
                    facts = {"method": peer.name, "nodes": n, "nonzeros": A.nnz, "clusters": k}
                    outcome = run(peer, folder, SECONDS, **options)
                    rows.append(facts | _measured(outcome, y))
                    slow |= {peer.name} if outcome.failed else set()
    return rows


def _measured(outcome: Any, y: np.ndarray) -> dict[str, Any]:
    kept = {name: outcome.facts[name] for name in COLUMNS if name in outcome.facts}
    if outcome.failed:
        return kept
    return kept | {"NMI": float(normalized_mutual_info_score(y, outcome.answer["labels"]))}


def exponents(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return p of seconds ∝ size^p by least squares of logarithms, and of memory beside what was there."""
    found = []
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method and "s" in row]
        if len(own) > 2:
            size = np.log([row[name] for row in own])
            time = np.polyfit(size, np.log([row["processor s"] for row in own]), 1)[0]
            extra = [max(row["peak (MB)"] - row["before (MB)"], 1.0) for row in own]
            memory = np.polyfit(size, np.log(extra), 1)[0]
            facts = {"method": method, f"from {name}": own[0][name], "to": own[-1][name]}
            found.append(facts | {"processor s": float(time), "memory that the call adds": float(memory)})
    return found


def draw() -> Path:
    """Draw what has been measured of the three, side by side, and return where."""
    figure = Figure(figsize=(10, 5.6), layout="constrained")
    for column, name in zip(figure.subplots(2, 3, sharey="row").T, VARIED, strict=True):
        file = RESULTS / f"growth_with_{name}.json"
        rows = [row for row in json.loads(file.read_text())["rows"] if "s" in row] if file.exists() else []
        for axis, measured in zip(column, ("s", "peak (MB)"), strict=True):
            if rows:
                draw_lines(axis, rows, {"x": name, "y": measured, "by": "method"})
                axis.get_legend().remove()
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5, fontsize=8
    )
    figure.savefig(RESULTS / "growth.png", dpi=75)
    return RESULTS / "growth.png"


if __name__ == "__main__":
    main()
