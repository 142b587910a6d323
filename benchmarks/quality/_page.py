"""One Markdown page with the tables of all parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._tools import RESULTS

METHOD = """# Quality of clusters

Means over random states 0, 1 and 2, with the number of clusters known. Labels of -1 (unplaced) count as wrong
in the accuracy and as a cluster of their own in the NMI. Seconds depend on the machine: read their ratios.
"""


def write_page() -> Path:
    """Write the tables of all parts that have been measured, and return where."""
    RESULTS.mkdir(exist_ok=True)
    kept = {file.stem.removeprefix("quality_"): file for file in sorted(RESULTS.glob("quality_*.json"))}
    pages = [part_text(part, json.loads(file.read_text())) for part, file in kept.items()]
    path = RESULTS / "quality.md"
    path.write_text("\n".join([METHOD, *pages]))
    return path


def part_text(part: str, kept: dict[str, Any]) -> str:
    runs, measures = kept["runs"], kept["measures"]
    tables = [markdown(runs, measures, " / ".join(measures))]
    if kept["show_seconds"]:
        tables.append(markdown(runs, ["seconds"], "seconds"))
    return "\n".join([f"## {part}\n", f"{kept['about']}\n", *tables]) + failures(runs)


def markdown(runs: list[dict[str, Any]], measures: list[str], title: str) -> str:
    """Return a row for each set of data, a column for each method, and a row of means."""
    data, methods = (list(dict.fromkeys(run[name] for run in runs)) for name in ("data", "method"))
    # data × methods × measures
    values = np.array([[means(runs, d, m, measures) for m in methods] for d in data])
    lines = ["| " + " | ".join([title, *methods]) + " |", "|---" * (len(methods) + 1) + "|"]
    names = [*(f"{d}{facts(runs, d)}" for d in data), "**mean**"]
    for name, row in zip(names, [*values, values.mean(axis=0)], strict=True):
        lines.append("| " + " | ".join([name, *(cell(entry) for entry in row)]) + " |")
    return "\n".join(lines) + "\n"


def means(runs: list[dict[str, Any]], data: str, method: str, measures: list[str]) -> list[float]:
    """Return the means of a method's runs; NaN where one has failed, and so in the row of means."""
    rows = [run for run in runs if (run["data"], run["method"]) == (data, method)]
    return [float(np.mean([row.get(name, np.nan) for row in rows])) if rows else np.nan for name in measures]


def facts(runs: list[dict[str, Any]], data: str) -> str:
    first = next(run for run in runs if run["data"] == data)
    return f" (n = {first['n']:,}, k = {first['k']})" if "k" in first else ""


def cell(entry: np.ndarray) -> str:
    return " / ".join("–" if np.isnan(value) else f"{value:.3f}" for value in entry)


def failures(runs: list[dict[str, Any]]) -> str:
    lines = [f"- {run['data']}, {run['method']}: {run['failed']}" for run in runs if "failed" in run]
    return "\nFailed:\n\n" + "\n".join(dict.fromkeys(lines)) + "\n" if lines else ""
