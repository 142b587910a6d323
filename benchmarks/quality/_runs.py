"""Runs of methods, what they score, and where that is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from benchmarks._tools import RESULTS, timed
from symclust.metrics import clustering_accuracy

SEEDS = (0, 1, 2)

Method = Callable[[int], Any]  # from a random state to labels, or to communities
Score = Callable[[Any], dict[str, float]]


def label_scores(y: np.ndarray) -> Score:
    """Score labels; -1, unplaced, is wrong in the accuracy and a cluster of its own in the NMI."""

    def score(labels: Any) -> dict[str, float]:
        labels = np.asarray(labels)
        placed = labels >= 0
        right = clustering_accuracy(y[placed], labels[placed]) * placed.mean() if placed.any() else 0.0
        return {
            "NMI": normalized_mutual_info_score(y, labels),
            "accuracy": right,
            "clusters": len(np.unique(labels[placed])),
            "unplaced": int((~placed).sum()),
        }

    return score


class Runs:
    """The runs of one part; `keep` writes them to benchmarks/results."""

    def __init__(
        self,
        part: str,
        about: str,
        measures: tuple[str, ...] = ("NMI", "accuracy"),
        show_seconds: bool = True,
    ) -> None:
        self.part = part
        self.head = {"about": about, "measures": list(measures), "show_seconds": show_seconds}
        self.rows: list[dict[str, Any]] = []

    def measure(
        self,
        data: str,
        methods: Mapping[str, Method],
        score: Score,
        seeds: Iterable[int] = SEEDS,
        **facts: Any,
    ) -> None:
        """Run every method with every random state; one that raises is noted and the others go on."""
        for name, method in methods.items():
            for seed in seeds:
                row = {"data": data, **facts, "method": name, "seed": seed}
                try:
                    seconds, answer = timed(lambda method=method, seed=seed: method(seed))
                    row |= {**score(answer), "seconds": seconds}
                except Exception as error:
                    row["failed"] = f"{type(error).__name__}: {error}"
                self.rows.append(row)
            print(self._line(data, name), flush=True)
        self.keep()

    def _line(self, data: str, method: str) -> str:
        rows = [row for row in self.rows if (row["data"], row["method"]) == (data, method)]
        if failed := [row["failed"] for row in rows if "failed" in row]:
            return f"{data}, {method}: failed, {failed[0]}"
        means = {name: np.mean([row[name] for row in rows]) for name in (*self.head["measures"], "seconds")}
        return f"{data}, {method}: " + ", ".join(f"{name} {value:.3f}" for name, value in means.items())

    def keep(self) -> None:
        RESULTS.mkdir(exist_ok=True)
        text = json.dumps({**self.head, "runs": self.rows}, indent=1, default=float)
        (RESULTS / f"quality_{self.part}.json").write_text(text)
