"""Graphs with attributes: default calls beside those on the edges and on the features alone, and k-means."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, triu
from sklearn.cluster import KMeans

from benchmarks._graphs import labelled_graph
from benchmarks._tools import labelled
from benchmarks.quality._methods import ours
from benchmarks.quality._runs import Method, Runs, label_scores
from symclust import AttributedGraph, SymNMF
from symclust.datasets import lfr, planted_partition
from symclust.documents import DocumentWeights

ABOUT = """`SymNMF(k).fit(AttributedGraph(A, X))` and the tree of the same input; `SymNMF(k)` on the edges
alone (`affinity="network"`) and on the weighted words alone; k-means (scikit-learn, ten starts) on X as it
is, as the literature does, and on the weighted words. In "cora, exchanged words" each node has the words of
another, in "cora, random edges" edges join random nodes with the degrees that cora's have: neither should
hurt. The others are graphs of `datasets` whose nodes have words of their cluster, more or less often."""


def words(y: np.ndarray, share: float, rng: np.random.Generator) -> csr_array:
    """Return counts of about 20 words a node, of which a share is typical of its cluster."""
    common = 1 / np.arange(1, 1001)
    typical = rng.dirichlet(np.full(1000, 0.05), y.max() + 1)
    rates = 20 * ((1 - share) * common / common.sum() + share * typical[y])
    return csr_array(rng.poisson(rates).astype(float))


def random_edges(A: csr_array, rng: np.random.Generator) -> csr_array:
    """Return a graph of the same degrees, but for loops and double edges, without any structure."""
    ends = rng.permutation(np.concatenate(triu(A, 1).tocoo().coords))
    half = ends.size // 2
    W = csr_array((np.ones(half), (ends[:half], ends[half:])), shape=A.shape)
    W.setdiag(0)
    return csr_array(W + W.T > 0, dtype=float)


def sets() -> dict[str, tuple[csr_array, csr_array, np.ndarray]]:
    rng = np.random.default_rng(0)
    found = {}
    graph, texts = labelled_graph("cora_graph"), labelled("cora_graph")
    if graph is not None and texts is not None:
        A, X, y = graph[0], csr_array(texts[0], dtype=float), texts[1]
        found["cora"] = A, X, y
        found["cora, exchanged words"] = A, X[rng.permutation(len(y))], y
        found["cora, random edges"] = random_edges(A, rng), X, y
    for mixing, share in ((0.3, 0.2), (0.5, 0.2), (0.6, 0.4)):
        A, y = lfr(2000, mixing, average_degree=10, min_community=50, max_community=200, random_state=1)
        found[f"LFR, mixing {mixing}, {share:.0%} typical"] = A, words(y, share, rng), y
    A, y = planted_partition(2000, 8, degree=4, mixing=0.3, random_state=0)
    found["planted, degree 4, 20% typical"] = A, words(y, 0.2, rng), y
    return found


def methods(A: csr_array, X: csr_array, k: int) -> dict[str, Method]:
    weighted = DocumentWeights(normalized_cut=False).fit_transform(X)
    return {
        **ours(AttributedGraph(A, X), k),
        "edges": lambda seed: SymNMF(k, affinity="network", random_state=seed).fit(A).labels_,
        "features": lambda seed: SymNMF(k, random_state=seed).fit(weighted).labels_,
        "k-means": lambda seed: KMeans(k, n_init=10, random_state=seed).fit(X).labels_,
        "k-means, weighted": lambda seed: KMeans(k, n_init=10, random_state=seed).fit(weighted).labels_,
    }


def main() -> None:
    runs = Runs("attributed", ABOUT)
    for name, (A, X, y) in sets().items():
        k = int(y.max()) + 1
        runs.measure(name, methods(A, X, k), label_scores(y), n=len(y), k=k)
