"""Samples that join a fitted model, and documents a tree of topics, beside a fit of all: time and clusters.

The last fifth of the samples, in random order, joins in five batches. The objective is compared with that
of a fit of the very matrix that has grown, which for a neighbour graph is not quite the graph of all samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import normalized_mutual_info_score

from benchmarks._documents import labelled_texts
from benchmarks._graphs import labelled_graph
from benchmarks._tools import labelled, table, timed
from symclust import SymNMF, topics
from symclust.datasets import planted_partition

BATCHES, SHARE = 5, 0.2
COLLECTIONS = ("wos1k", "20newsgroups_text")
GRAPHS = ("polblogs", "email_eu_core", "cora_graph", "pubmed_graph")


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table("A fifth of the samples joins in five batches", map(_compare, cases()))
        table("One batch beside a fit of all, 50,000 samples", map(_by_size, (1, 10, 100, 1000, 5000)))
        table("Half of the documents joins in five batches", filter(None, map(_documents, COLLECTIONS)))


def cases() -> Iterator[tuple[str, Any, np.ndarray, dict[str, Any]]]:
    """Yield a name, samples or similarities in random order, classes and options."""
    yield ("planted partition", *planted_partition(20_000, 20, random_state=0), {"affinity": "precomputed"})
    yield ("digits", *load_digits(return_X_y=True), {})
    yield ("blobs", *make_blobs(50_000, 8, centers=20, cluster_std=2.0, random_state=0), {})
    if (mnist := labelled("mnist6000")) is not None:
        yield ("mnist6000", *mnist, {})
    for name in GRAPHS:
        if (graph := labelled_graph(name)) is not None and graph[1] is not None:
            yield (name, *graph, {"affinity": "network"})


def _compare(case: tuple[str, Any, np.ndarray, dict[str, Any]]) -> dict[str, Any]:
    name, X, y, options = case
    order = np.random.default_rng(0).permutation(len(y))
    take = _taker(X, order, bool(options))
    k, borders = len(np.unique(y)), np.linspace((1 - SHARE) * len(y), len(y), BATCHES + 1).astype(int)
    model = SymNMF(k, random_state=0, **options).fit(take(0, borders[0]))
    times, iterations = [], []
    for begin, end in pairwise(borders):
        times.append(timed(lambda begin=begin, end=end: model.partial_fit(take(begin, end)))[0])
        iterations.append(model.n_iter_)
    took, whole = timed(lambda: SymNMF(k, random_state=0, **options).fit(take(0, len(y))))
    same = SymNMF(k, random_state=0, affinity="precomputed").fit(model.affinity_matrix_)
    nmi, y = normalized_mutual_info_score, y[order]
    return {
        "samples": f"{name}, {len(y)}",
        "a batch, s": float(np.mean(times)),
        "a fit, s": took,
        "ratio": float(np.mean(times)) / took,
        "iterations": f"{min(iterations)} to {max(iterations)}; {whole.n_iter_}",
        "objective above a fit's, %": 100 * (model.objective_ / same.objective_ - 1),
        "NMI joined": nmi(y, model.labels_),
        "NMI fit": nmi(y, whole.labels_),
        "NMI of both": nmi(model.labels_, whole.labels_),
    }


def _taker(X: Any, order: np.ndarray, pairs: bool) -> Callable[[int, int], Any]:
    """Return what takes samples `begin` to `end`: features, or similarities to all up to the last."""
    X = X[order][:, order] if pairs else X[order]
    return (lambda begin, end: X[begin:end, :end]) if pairs else (lambda begin, end: X[begin:end])


def _by_size(size: int) -> dict[str, Any]:
    X, _ = make_blobs(50_000, 8, centers=20, cluster_std=2.0, random_state=0)
    X = X[np.random.default_rng(0).permutation(len(X))]
    model = SymNMF(20, random_state=0).fit(X[:-size])
    took = timed(lambda: model.partial_fit(X[-size:]))[0]
    fit = timed(lambda: SymNMF(20, random_state=0).fit(X))[0]
    return {
        "batch": size,
        "partial_fit, s": took,
        "fit, s": fit,
        "ratio": took / fit,
        "iterations": model.n_iter_,
    }


def _documents(name: str) -> dict[str, Any] | None:
    found = labelled_texts(name)
    if found is None:
        return None
    order = np.random.default_rng(0).permutation(len(found[0]))
    texts, y = [found[0][place] for place in order], np.asarray(found[1])[order]
    k, half, nmi = len(set(y)), len(texts) // 2, normalized_mutual_info_score
    took, whole = timed(lambda: topics(texts, k, random_state=0))
    tree = topics(texts[:half], k, random_state=0)
    before, times = tree.labels_, []
    for batch in np.array_split(np.arange(half, len(texts)), BATCHES):
        times.append(timed(lambda batch=batch: tree.partial_fit([texts[place] for place in batch]))[0])
    return {
        "documents": f"{name}, {len(texts)}",
        "a batch, s": float(np.mean(times)),
        "topics of all, s": took,
        "ratio": float(np.mean(times)) / took,
        "NMI joined": nmi(y, tree.labels_),
        "NMI of all at once": nmi(y, whole.labels_),
        "of those that joined": nmi(y[half:], tree.labels_[half:]),
        "of these, all at once": nmi(y[half:], whole.labels_[half:]),
        "old ones that stay, %": 100 * float(np.mean(before == tree.labels_[:half])),
        "last note": tree.notes[-1],
    }


if __name__ == "__main__":
    main()
