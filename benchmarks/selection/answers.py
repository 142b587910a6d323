"""What each method answers on labelled data, beside the known number of classes, with seconds.

The environment variable SYMCLUST_SELECTION_SECONDS limits one method on one set (120 s),
SYMCLUST_SELECTION_METHODS names methods, separated by blanks, where not all are wanted, and
SYMCLUST_SELECTION_SETS beginnings of the names of sets, separated by commas.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._graphs import labelled_graph
from benchmarks._tools import labelled, table
from benchmarks.quality import vectors
from benchmarks.selection._studies import ask, methods, of_network, of_samples, study_of
from symclust.datasets import lfr
from symclust.documents import DocumentWeights
from symclust.selection import Pairs

MOST = 60  # candidates are 2 to 60, and at most a quarter of the samples
NETWORKS = ("karate", "polblogs", "email_eu_core", "cora_graph", "pubmed_graph")
VECTORS = (
    "golub_all_aml",
    "khan_srbct",
    "buettner_mesc",
    "tox171",
    "pbmc68k_reduced",
    "digits",
    "coil20",
    "orl_32x32",
    "mnist6000",
)
DOCUMENTS = ("cstr", "tr23", "classic3", "k1b")
SIMILARITIES = ("voting", "aural_sonar")
LFR = [
    (degree, sizes, mixing)
    for degree in (6, 20)
    for sizes in ((20, 100), (200, 600))
    for mixing in (0.1, 0.3, 0.5)
]


def sets() -> Iterator[tuple[str, Pairs, int]]:
    """Yield the name of a set, its similarities and its number of classes."""
    for name in VECTORS:
        if (data := vectors.read(name)) is not None:
            yield name, of_samples(data[0]), len(np.unique(data[1]))
    for name in NETWORKS:
        if (graph := labelled_graph(name)) is not None:
            yield name, of_network(graph[0]), len(np.unique(graph[1]))
    for degree, (least, most), mixing in LFR:
        A, y = lfr(2000, mixing, degree, 50, min_community=least, max_community=most, random_state=0)
        yield (
            f"LFR, degree {degree}, {least} to {most} nodes, mixing {mixing}",
            of_network(A),
            int(y.max()) + 1,
        )
    for name in SIMILARITIES:
        if (K := similarity(name)) is not None:
            yield name, Pairs(K), 2
    for name in DOCUMENTS:
        if (data := labelled(name)) is not None:
            yield name, of_samples(DocumentWeights().fit_transform(data[0])), len(np.unique(data[1]))


def similarity(name: str) -> np.ndarray | None:
    path = Path(os.environ.get("SYMCLUST_DATA", ""), f"{name}.npz")
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as file:
        K = file["K"]
    return np.maximum((K + K.T) / 2, 0)


def main() -> None:
    named = os.environ.get("SYMCLUST_SELECTION_METHODS", "").split()
    asked = {name: method for name, method in methods().items() if not named or name in named}
    rows: list[dict[str, Any]] = []
    close = dict.fromkeys(asked, 0)
    wanted = tuple(os.environ.get("SYMCLUST_SELECTION_SETS", "").split(","))
    for name, data, known in sets():
        if not name.startswith(wanted):
            continue
        row: dict[str, Any] = {"data": name, "n": data.n, "known": known}
        for method, choose in asked.items():
            answer, seconds, wrong = ask(choose, study_of(data, MOST, seed=0), seed=0)
            row[method] = f"{answer} ({seconds:.1f} s)" if answer is not None else "—"
            close[method] += answer is not None and abs(answer - known) <= 1
            if wrong:
                print(f"{name}, {method}: {wrong:.150}", flush=True)
        rows.append(row)
        print(row, flush=True)
    rows.append({"data": "right or off by one", "n": "", "known": len(rows), **close})
    table("Number of clusters on labelled data", rows)
