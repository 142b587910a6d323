"""Tables 12 and 13 of the thesis: how often methods find the number of clusters of simulated expression."""

from __future__ import annotations

import json
import os
import warnings
from functools import partial

import numpy as np

from benchmarks._tools import RESULTS, table, timed
from symclust import NMF, AffineNMF, select_n_clusters
from symclust.datasets import simulated_expression

NOISE = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
CLUSTERS = (1, 2, 3, 4, 5, 6)
METHODS = {  # as in section 4.5: 50 starts, 50 subsets of 80 %, 50 repetitions of two-fold validation
    "(a) consensus by starts": ("consensus_init", {"n_starts": 50}),
    "(b) consensus by subsets": ("consensus", {"n_resamples": 50, "share": 0.8}),
    "(c) gap statistic": ("gap", {"n_nulls": 20}),
    "(d) GPS": ("gps", {"n_repeats": 50, "n_nulls": 20}),
}
# The thesis's own, of GPS.
STANDARD = [[0.2, 1, 1, 1, 1, 1], [0.1, 1, 1, 1, 1, 1], [0.1, 1, 1, 1, 1, 1], [0.3, 1, 0.9, 1, 1, 1],
            [0.2, 1, 0.9, 1, 1, 0.7], [0.3, 1, 0.9, 0.9, 0.7, 0.4]]  # fmt: skip
AFFINE = [[1, 0.9, 1, 1, 1, 1], [0.9, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1], [0.9, 1, 1, 1, 1, 1],
          [1, 1, 1, 1, 1, 0.7], [0.9, 1, 1, 1, 0.8, 0.3]]  # fmt: skip


def main() -> None:
    """Run everything, which takes an hour or two on two processors; CHOOSING_K_RUNS=2 takes a fifth of it."""
    runs = int(os.environ.get("CHOOSING_K_RUNS", "10"))
    found = _answers(runs)
    for number, estimator, printed in ((12, "NMF", STANDARD), (13, "AffineNMF", AFFINE)):
        for title in METHODS:
            table(f"Table {number} {title}", _rows(found, estimator, title))
        _compare(found, estimator, printed, number)


def _answers(runs: int) -> list[dict[str, object]]:
    """Return one record for each data set, estimator and method; a run that was ended goes on from them."""
    path = RESULTS / f"choosing_k_{runs}.jsonl"
    RESULTS.mkdir(exist_ok=True)
    found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {(r["K"], r["noise"], r["run"], r["estimator"], r["method"]) for r in found}
    with path.open("a") as file:
        for run in range(runs):
            for K in CLUSTERS:
                for noise in NOISE:
                    for record in _of_data_set(K, noise, run, known):
                        found.append(record)
                        file.write(json.dumps(record) + "\n")
                        file.flush()
    return found


def _of_data_set(K: int, noise: float, run: int, known: set) -> list[dict[str, object]]:
    X, _ = simulated_expression(K, noise, random_state=1000 * run + 10 * K + NOISE.index(noise))
    records = []
    for model in (NMF(init="random"), AffineNMF(init="random")):
        for title, (method, params) in METHODS.items():
            name = type(model).__name__
            if (K, noise, run, name, title) in known:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ask = partial(select_n_clusters, X, model, range(2, 8), method, method_params=params)
                seconds, answer = timed(partial(ask, random_state=run))
            records.append({"K": K, "noise": noise, "run": run, "estimator": name, "method": title,
                            "answer": answer.n_clusters, "seconds": round(seconds, 2)})  # fmt: skip
    return records


def _share(found: list, estimator: str, title: str, K: int, noise: float) -> float:
    chosen = (estimator, title, K, noise)
    answers = [r["answer"] for r in found if (r["estimator"], r["method"], r["K"], r["noise"]) == chosen]
    return float(np.mean([answer == K for answer in answers]))


def _rows(found: list, estimator: str, title: str) -> list[dict[str, object]]:
    return [
        {"noise": noise, **{f"K = {K}": _share(found, estimator, title, K, noise) for K in CLUSTERS}}
        for noise in NOISE
    ]


def _compare(found: list, estimator: str, printed: list, number: int) -> None:
    ours = np.array([[_share(found, estimator, "(d) GPS", K, noise) for K in CLUSTERS] for noise in NOISE])
    worst = float((ours - np.array(printed)).min())
    seconds = np.mean(
        [r["seconds"] for r in found if r["estimator"] == estimator and r["method"] == "(d) GPS"]
    )
    print(f"\nTable {number} (d): worst cell against the thesis {worst:+.1f}; {seconds:.1f} s for an answer")


if __name__ == "__main__":
    main()
