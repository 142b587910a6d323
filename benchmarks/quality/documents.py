"""Documents with classes: default calls beside spectral clustering, spherical k-means and NMF."""

from __future__ import annotations

import numpy as np

from benchmarks._tools import labelled
from benchmarks.quality._methods import ours, spectral
from benchmarks.quality._runs import Runs, label_scores
from symclust import NMF, SphericalKMeans
from symclust.documents import DocumentWeights
from symclust.graphs import cosine

ABOUT = """Counts of words (of cstr, weights) are weighted by `DocumentWeights().fit_transform(counts)`,
its default: tf-idf, unit length, and rows divided by the root of their degree in the graph of all
cosines. All methods get those rows X: `SymNMF(k).fit(X)` and `HierarchicalSymNMF(k).fit(X)` as they are;
spectral clustering of the graph of cosines with the ⌊log₂ n⌋ + 1 most similar documents of each (as many
as the papers take); `SphericalKMeans(k)` and `NMF(k)`, also ours."""

SETS = (
    "tr11",
    "tr23",
    "tr45",
    "k1b",
    "la1",
    "reviews",
    "classic",
    "cstr",
    "ohscal",
    "tdt2",
    "reuters21578_41",
)


def neighbors(n: int) -> int:
    return int(np.log2(n)) + 1


def main() -> None:
    runs = Runs("documents", ABOUT)
    for name in SETS:
        data = labelled(name)
        if data is None:
            continue
        X, y = DocumentWeights().fit_transform(data[0]), data[1]
        k, n = len(np.unique(y)), len(y)
        methods = {
            **ours(X, k),
            **spectral(lambda X=X, n=n: cosine(X, neighbors(n)), k),
            "spherical k-means": lambda seed, X=X, k=k: SphericalKMeans(k, random_state=seed).fit(X).labels_,
            "NMF": lambda seed, X=X, k=k: NMF(k, random_state=seed).fit(X).labels_,
        }
        runs.measure(name, methods, label_scores(y), n=n, k=k)
