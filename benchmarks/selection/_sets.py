"""Labelled data of all kinds: as `fit` is given them, as numbers for other methods, and their classes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks._graphs import as_igraph, labelled_graph
from benchmarks._tools import labelled
from benchmarks.quality import documents, networks, tables, vectors
from symclust.datasets import lfr
from symclust.documents import DocumentWeights

ARRAYS = ("iris", "wine", "breast_cancer", "satellite", "vowel", "zoo", "letter4000")
TEXTS = ("20newsgroups_text", "wos1k", "ohsumed_single23")
LFR = [(degree, mixing, 20) for degree in (10, 20) for mixing in (0.1, 0.3, 0.5, 0.6)] + [(15, 0.3, 5)]


class Labelled(NamedTuple):
    """A set: group and name, X as `fit` is given it, numbers for other methods, labellings of the samples.

    A label of −1 is noise.
    """

    group: str
    name: str
    X: Any
    numbers: Any
    labels: list[np.ndarray]

    @property
    def known(self) -> list[int]:
        """The number of classes of each labelling."""
        return [len(np.unique(y[y >= 0])) for y in self.labels]

    def nearest(self, k: int) -> int:
        """Return the known number that is nearest to k."""
        return min(self.known, key=lambda known: abs(np.log(max(k, 1) / known)))


def of_tables() -> Iterator[Labelled]:
    for name, X, numbers, y in tables.sets():
        yield Labelled("numbers" if name in ARRAYS else "raw tables", name, X, numbers, [y])


def of_shapes() -> Iterator[Labelled]:
    path = Path(os.environ.get("SYMCLUST_DATA", ""), "shapes.npz")
    if not path.exists():
        return
    with np.load(path, allow_pickle=False) as file:
        for name in sorted(key.removesuffix(".X") for key in file if key.endswith(".X")):
            X, labels = file[f"{name}.X"].astype(float), []
            while f"{name}.y{len(labels)}" in file:
                labels.append(file[f"{name}.y{len(labels)}"].astype(int) - 1)
            yield Labelled("shapes", name, X, X, labels)


def of_vectors() -> Iterator[Labelled]:
    for name in vectors.SETS:
        if (data := vectors.read(name)) is not None:
            yield Labelled("vectors", name, *data[:1] * 2, [data[1]])


def of_networks() -> Iterator[Labelled]:
    for name in networks.SETS:
        if (data := labelled_graph(name)) is not None:
            A, y = data
            yield Labelled("networks", name, as_igraph(A), None, [y])


def of_lfr() -> Iterator[Labelled]:
    for degree, mixing, seeds in LFR:
        for seed in range(seeds // 10 or 1):
            n, least = (5000, 10) if degree == 15 else (2000, 20)
            most = 50 if degree == 15 else 100
            A, y = lfr(n, mixing, degree, 50, min_community=least, max_community=most, random_state=seed)
            yield Labelled("LFR", f"n {n}, degree {degree}, mixing {mixing}, {seed}", as_igraph(A), None, [y])


def of_documents() -> Iterator[Labelled]:
    for name in documents.SETS:
        if (data := labelled(name)) is not None:
            X = DocumentWeights().fit_transform(data[0])
            yield Labelled("documents", name, X, X, [data[1]])
