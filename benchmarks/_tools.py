"""Clocks, tables and data for the benchmarks."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

RESULTS = Path(__file__).parent / "results"


def seconds(work: Callable[[], Any], repeat: int = 1) -> float:
    """Best of `repeat` runs."""
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def table(title: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Print rows as a Markdown table and keep them as JSON in benchmarks/results."""
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    print(f"\n### {title}\n")
    print("| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names))
    for row in rows:
        print("| " + " | ".join(_cell(row.get(name, "")) for name in names) + " |")
    RESULTS.mkdir(exist_ok=True)
    stem = "".join(c if c.isalnum() else "_" for c in title.lower()).strip("_")
    (RESULTS / f"{stem}.json").write_text(json.dumps(rows, indent=1, default=float))


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def labelled(name: str) -> tuple[Any, np.ndarray] | None:
    """Return (X, y) of a labelled data set, X dense or CSR, or None with a note where it is not there."""
    folder = os.environ.get("SYMCLUST_DATA")
    path = Path(folder) / f"{name}.npz" if folder else None
    if path is None or not path.exists():
        print(f"(skipped {name}: set SYMCLUST_DATA to the folder that holds {name}.npz)")
        return None
    with np.load(path, allow_pickle=False) as file:
        if "X" in file:
            return file["X"].astype(float), file["y"]
        data, indices, indptr = (file[f"X_{part}"] for part in ("data", "indices", "indptr"))
        return csr_array((data.astype(float), indices, indptr), shape=tuple(file["X_shape"])), file["y"]
