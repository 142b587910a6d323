"""The similarities that `affinity="auto"` chooses from, each on all labelled data: the evidence behind it."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._graphs import labelled_graph
from benchmarks._tools import labelled
from benchmarks.quality import documents, networks, vectors
from benchmarks.quality._runs import Method, Runs, label_scores
from symclust import SymNMF
from symclust.datasets import lfr
from symclust.documents import DocumentWeights

ABOUT = """`SymNMF(k)` with the similarities that its default chooses from, the start of the default. Vectors
and documents: neighbours by distance, by direction and by cosine, with the normalised cut and with random
walks. Networks: powers of the degrees and random walks. Labels were looked at to choose among these."""

OF_SAMPLES = {
    "by distance": ("nearest_neighbors", {}),
    "by direction": ("nearest_neighbors", {"metric": "cosine"}),
    "cosines": ("nearest_neighbors", {"weights": "cosine"}),
    "walks, by distance": ("random_walk", {}),
    "walks, by direction": ("random_walk", {"metric": "cosine"}),
    "walks, cosines": ("random_walk", {"weights": "cosine"}),
    "walks, cosines, root": ("random_walk", {"weights": "cosine", "measure": "root"}),
}
OF_NETWORKS = {
    "exponent 0": ("precomputed", {}),
    "exponent 0.3": ("normalized_cut", {"of": "precomputed", "exponent": 0.3}),
    "exponent 0.4": ("normalized_cut", {"of": "precomputed", "exponent": 0.4}),
    "exponent 0.5": ("normalized_cut", {"of": "precomputed"}),
    "walks": ("random_walk", {"of": "precomputed", "n_kept": 100}),
    "walks, root": ("random_walk", {"of": "precomputed", "n_kept": 100, "measure": "root"}),
}
LFR = [
    (degree, sizes, mixing)
    for degree in (6, 20)
    for sizes in ((20, 100), (200, 600))
    for mixing in (0.3, 0.5)
]


def methods(X: Any, k: int, affinities: dict[str, tuple[str, dict[str, Any]]]) -> dict[str, Method]:
    return {
        name: lambda seed, affinity=affinity, params=params: (
            SymNMF(k, affinity=affinity, affinity_params=params, random_state=seed).fit(X).labels_
        )
        for name, (affinity, params) in affinities.items()
    }


def main() -> None:
    for part, read, sets in (
        ("affinities of vectors", vectors.read, vectors.SETS),
        ("affinities of documents", weighted, documents.SETS),
        ("affinities of networks", labelled_graph, networks.SETS),
    ):
        runs = Runs(part, ABOUT)
        affinities = OF_NETWORKS if read is labelled_graph else OF_SAMPLES
        for name in sets:
            if (data := read(name)) is not None:
                k = len(np.unique(data[1]))
                runs.measure(
                    name, methods(data[0], k, affinities), label_scores(data[1]), (0,), n=len(data[1]), k=k
                )
    runs = Runs("affinities of lfr graphs", ABOUT)
    for degree, (least, most), mixing in LFR:
        A, y = lfr(2000, mixing, degree, 50, min_community=least, max_community=most, random_state=0)
        name = f"degree {degree}, {least} to {most} nodes, mixing {mixing}"
        runs.measure(name, methods(A, int(y.max()) + 1, OF_NETWORKS), label_scores(y), (0,))


def weighted(name: str) -> tuple[Any, np.ndarray] | None:
    data = labelled(name)
    return data and (DocumentWeights().fit_transform(data[0]), data[1])
