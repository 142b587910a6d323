"""Studies of networks, samples and similarities, and every method that answers them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import HDBSCAN

from benchmarks._graphs import leiden
from symclust import HierarchicalSymNMF, SymNMF, registry
from symclust.selection import Features, Pairs, Study

LIMIT = int(os.environ.get("SYMCLUST_SELECTION_SECONDS", "120"))  # for one method on one set


def of_network(W: Any) -> Pairs:
    return Pairs(similarities_of_network(W), Pairs(W), similarities_of_network)


def of_samples(X: Any) -> Pairs:
    return Pairs(similarities_of_samples(X), Features(X), similarities_of_samples)


def similarities_of_network(W: Any) -> Any:
    return SymNMF(affinity="network")._read(W).operator.matrix


def similarities_of_samples(X: Any) -> Any:
    return SymNMF()._read(X).operator.matrix


def study_of(data: Pairs, most: int, seed: int) -> Study:
    """Return the question as `SymNMF(n_clusters="auto")` would ask it.

    Methods that refit do so by the tree of communities, which gives all candidates in one growth.
    """
    candidates = tuple(range(2, max(4, min(most, data.n // 4) + 1)))
    return Study(data, HierarchicalSymNMF(affinity="precomputed"), candidates, np.random.RandomState(seed))


def methods() -> dict[str, Callable[[Study, int], int]]:
    """Return every method in the package, and what people would use instead."""
    ours = {
        name: _answer_of(registry.resolve("selection.methods", name))
        for name in registry.options("selection.methods")
    }
    return {**ours, "Leiden": _leiden, "HDBSCAN": _hdbscan}


def _answer_of(method: Any) -> Callable[[Study, int], int]:
    return lambda study, seed: method().choose(study).n_clusters


def _leiden(study: Study, seed: int) -> int:
    """Return the number of communities by modularity: of the network, or of the similarities."""
    import igraph

    source = study.data.source
    W = source.A if isinstance(source, Pairs) else study.data.A
    upper = sparse.coo_array(sparse.triu(sparse.csr_array(W), 1))
    graph = igraph.Graph(n=W.shape[0], edges=np.column_stack(upper.coords))
    graph.es["weight"] = upper.data
    return len(np.unique(leiden(graph, seed, n_iterations=-1, weights="weight")))


def _hdbscan(study: Study, seed: int) -> int:
    """Return the number of clusters of the samples, or of 1 − similarity."""
    source = study.data.source
    if isinstance(source, Features):
        X = source.X.toarray() if sparse.issparse(source.X) else source.X
        labels = HDBSCAN(copy=True).fit(X).labels_
    else:
        W = source.A if isinstance(source, Pairs) else study.data.A
        A = W.toarray() if sparse.issparse(W) else np.array(W)
        distances = 1 - A / A.max()
        np.fill_diagonal(distances, 0)
        labels = HDBSCAN(metric="precomputed", copy=True).fit(distances).labels_
    return max(1, len(np.unique(labels[labels >= 0])))


def ask(method: Callable[[Study, int], int], study: Study, seed: int) -> tuple[int | None, float, str]:
    """Return the answer, the seconds it took, and what went wrong."""
    began = time.perf_counter()
    try:
        with _time_limit():
            answer = method(study, seed)
    except Exception as error:
        return None, time.perf_counter() - began, f"{type(error).__name__}: {error}"
    return answer, time.perf_counter() - began, ""


@contextmanager
def _time_limit() -> Iterator[None]:
    def give_up(*_: Any) -> None:
        raise TimeoutError(f"more than {LIMIT} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
