"""Documents with classes: default calls beside spectral clustering, spherical k-means and NMF."""

from __future__ import annotations

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks._documents import labelled_texts
from benchmarks._tools import labelled
from benchmarks.quality._methods import ours, spectral
from benchmarks.quality._runs import Runs, label_scores
from symclust import NMF, HierarchicalNMF, SphericalKMeans, topics
from symclust.documents import DocumentWeights
from symclust.graphs import cosine

ABOUT = """`SymNMF(k)`, `HierarchicalSymNMF(k)` and `topics(counts, k)` get counts of words (of cstr,
weights). All others get rows X, weighted by `DocumentWeights()`: tf-idf, unit length, and rows divided by
the root of their degree in the graph of all cosines: `HierarchicalNMF(k)`, `NMF(k)`, and, also ours,
`SphericalKMeans(k)`; spectral clustering of the graph of cosines with the ⌊log₂ n⌋ + 1 most similar
documents of each (as many as the papers take). Of texts, words in at least three documents and at most half
of them are counted."""

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
TEXTS = ("ohsumed_single23", "wos1k")  # whose labels were not looked at for the defaults of today


def neighbors(n: int) -> int:
    return int(np.log2(n)) + 1


def counts_of(name: str) -> tuple[object, np.ndarray] | None:
    if name not in TEXTS:
        return labelled(name)
    found = labelled_texts(name)
    if found is None:
        return None
    counts = CountVectorizer(stop_words="english", min_df=3, max_df=0.5, dtype=float).fit_transform(found[0])
    return counts, np.unique(found[1], return_inverse=True)[1]


def main() -> None:
    runs = Runs("documents", ABOUT)
    for name in (*SETS, *TEXTS):
        data = counts_of(name)
        if data is None:
            continue
        counts, y = data
        X, k, n = DocumentWeights().fit_transform(counts), len(np.unique(y)), len(y)
        methods = {
            **ours(counts, k),
            "topics": lambda seed, C=counts, k=k: topics(C, k, random_state=seed).labels_,
            "HierarchicalNMF": lambda seed, X=X, k=k: HierarchicalNMF(k, random_state=seed).fit(X).labels_,
            **spectral(lambda X=X, n=n: cosine(X, neighbors(n)), k),
            "spherical k-means": lambda seed, X=X, k=k: SphericalKMeans(k, random_state=seed).fit(X).labels_,
            "NMF": lambda seed, X=X, k=k: NMF(k, random_state=seed).fit(X).labels_,
        }
        runs.measure(name, methods, label_scores(y), n=n, k=k)
