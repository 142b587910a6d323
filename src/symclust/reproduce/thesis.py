"""The thesis on NMF: documents (chapter 2), the number of clusters (4), and topic trees (5).

Readings: words are weighted by tf · log(n / df), multiplicative updates end after 200 iterations, and
negative entries of the Gaussians of figures 12 and 13 become zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import normalized_mutual_info_score

from symclust._types import Array
from symclust.datasets import simulated_expression
from symclust.documents import DocumentWeights
from symclust.estimators import NMF, AffineNMF, HierarchicalNMF, SparseNMF
from symclust.k_means import both_phases
from symclust.metrics import clustering_accuracy
from symclust.reproduce._data import NEWSGROUPS, documents
from symclust.reproduce._pieces import Extent, Piece, least_seconds, row_of
from symclust.reproduce._printed import Found, Key
from symclust.selection import Features, Study, select_n_clusters
from symclust.selection.methods.consensus import Consensus, ConsensusInit

COLLECTIONS = {"TDT2": "tdt2.npz", "Reuters": "reuters21578_41.npz", "20News": NEWSGROUPS}
NAMES = {"20News": ("20News", "20 Newsgroups"), "Reuters": ("Reuters", "Reuters-21578"), "TDT2": ("TDT2",)}
NOISE, CLUSTERS = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5), (1, 2, 3, 4, 5, 6)
METHODS: dict[str, tuple[str, dict[str, Any]]] = {  # as in section 4.5
    "(a)": ("consensus_init", {"n_starts": 50}),
    "(b)": ("consensus", {"n_resamples": 50, "share": 0.8}),
    "(c)": ("gap", {"n_nulls": 20}),
    "(d)": ("gps", {"n_repeats": 50, "n_nulls": 20}),
}


def pieces(extent: Extent) -> Iterator[Piece]:
    """Yield the pieces of chapters 2, 4 and 5; those of chapter 3 are symnmf's."""
    for name, file in COLLECTIONS.items():
        path, about, slow = extent.data / file, NAMES[name], name == "20News"
        work = partial(_documents, name, path, extent.runs(20))
        yield Piece(f"{name}, sizes", ("thesis:1", "thesis:16"), partial(_sizes, name, path), (file,), about)
        yield Piece(f"{name}, NMF", tuple(f"thesis:{n}" for n in (2, 3, 4)), work, (file,), about, slow)
        if name != "TDT2":
            work = partial(_times, name, path, extent.runs(3, 1))
            yield Piece(f"{name}, time", ("thesis:17",), work, (file,), about, slow)
    for table, estimator in (("thesis:12", NMF), ("thesis:13", AffineNMF)):
        for noise in NOISE:
            for K in CLUSTERS:
                for method in METHODS:
                    # One run of each is a share of 0 or 1: quick runs judge a third of the cells.
                    work = partial(_share, table, estimator, method, K, noise, extent.runs(10, 1))
                    slow = noise not in (0.25, 0.45)
                    yield Piece(f"{table} {method}, K = {K}, {noise}", (table,), work, slow=slow)
    yield Piece("One Gaussian", ("thesis:fig12-13",), _one_gaussian)


def _sizes(name: str, path: Path) -> Iterator[Found]:
    X, y = documents(path)
    numbers = {"terms": X.shape[1], "documents": X.shape[0], "classes": len(np.unique(y))}
    for table in ("thesis:1", "thesis:16"):
        for row in NAMES[name]:
            yield from row_of(table, row, numbers)


@cache
def _weighted(path: Path) -> tuple[Any, Array]:
    counts, y = documents(path)
    return DocumentWeights(tfidf="plain").fit_transform(counts), y


def _documents(name: str, path: Path, runs: int) -> Iterator[Found]:
    X, y = _weighted(path)
    k = len(np.unique(y))
    options: dict[str, Any] = {"init": "random", "tol": 1e-3, "max_iter": 200}
    models: dict[str, Any] = {  # the starts are the same for all three
        "NMF/MU": NMF(k, solver="multiplicative_as_printed", **options),
        "NMF/ANLS": NMF(k, solver="bpp", **options),
        "Sparse NMF/ANLS": SparseNMF(k, solver="bpp", **options),
    }
    fits: dict[str, Callable[[int], Any]] = {
        "K-means": lambda seed: both_phases(X, k, seed, init="random"),
        **{name: partial(_fit, model, X) for name, model in models.items()},
    }
    for method, fit in fits.items():
        fitted = [fit(seed) for seed in range(runs)]
        for table, measure in (("2", clustering_accuracy), ("3", normalized_mutual_info_score)):
            value = np.mean([measure(y, one.labels_) for one in fitted])
            yield Found(Key(f"thesis:{table}", name, method), float(value), runs)
        for letter, factor in (("W", "components_"), ("H", "membership_")) if method != "K-means" else ():
            zeros = np.mean([100 * np.mean(getattr(one, factor) == 0) for one in fitted])
            yield Found(Key("thesis:4", name, f"{method} {letter}"), float(zeros), runs)


def _fit(model: Any, X: Any, seed: int) -> Any:
    return clone(model).set_params(random_state=seed).fit(X)


def _times(name: str, path: Path, runs: int) -> Iterator[Found]:
    """Yield processor seconds for 2 to c clusters: one tree, or a flat NMF for each number."""
    X, y = _weighted(path)
    numbers = range(2, len(np.unique(y)) + 1)
    ways: dict[str, list[Any]] = {
        "r2-nmf-hier": [HierarchicalNMF(numbers[-1], criterion="mndcg", outlier_ratio=9.0, random_state=0)],
        "nmf-hier": [
            HierarchicalNMF(
                numbers[-1], split="active_set", criterion="mndcg", outlier_ratio=9.0, random_state=0
            )
        ],
        "nmf-flat": [NMF(k, init="random", tol=1e-4, random_state=0) for k in numbers],
    }
    seconds = {
        method: sum(least_seconds(partial(model.fit, X), runs) for model in models)
        for method, models in ways.items()
    }
    for row in NAMES[name]:
        yield from row_of("thesis:17", row, seconds, runs)


def _share(table: str, estimator: Any, method: str, K: int, noise: float, runs: int) -> Iterator[Found]:
    """Yield the share of simulated data sets in which the number of clusters is found."""
    name, params = METHODS[method]
    answers = []
    for run in range(runs):
        X, _ = simulated_expression(K, noise, random_state=1000 * run + 10 * K + NOISE.index(noise))
        model = estimator(init="random")
        answer = select_n_clusters(X, model, range(2, 8), name, method_params=params, random_state=run)
        answers.append(answer.n_clusters == K)
    yield Found(Key(table, f"{method} σ = {noise}", f"K = {K}"), float(np.mean(answers)), runs)


def _one_gaussian() -> Iterator[Found]:
    """Yield the cophenetic correlations of one Gaussian in two clusters: 50 starts, 50 subsets."""
    for name, d in (("2 features", 2), ("2,000 features", 2000)):
        rng = np.random.RandomState(0)
        X = np.maximum(rng.normal(size=(200, d)), 0)
        for column, method in (("50 starts", ConsensusInit(50)), ("50 subsets", Consensus(50, 0.8))):
            study = Study(Features(X), NMF(init="random", tol=1e-6), (2,), np.random.RandomState(0))
            yield Found(Key("thesis:fig12-13", name, column), float(method.choose(study).scores[0]), 50)
