"""Off-diagonal SymNMF: cliques with noise (tables 2 and 3), documents by the cosine of counts (4 to 6).

The paper does not say how unequal its unbalanced cliques are; ours have sizes evenly spaced from 7 to 13, a
span chosen after seeing results: from 5 to 15 the smallest clique has fewer links inside than noise puts
around it.

The column NMI of table 5 holds Rand indices. With p and q the shares of pairs that share a class and a
cluster, (1 − Rand) / (1 − adjusted Rand) = p + q − 2pq; from the printed columns and the classes at hand that
gives q between .12 and .31 for all methods and sets, as clusters of these numbers have.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, rand_score
from sklearn.preprocessing import normalize

from symclust._types import Array
from symclust.datasets import noisy_cliques
from symclust.estimators import OffDiagonalSymNMF, SymNMF
from symclust.metrics import clustering_accuracy, factor_accuracy
from symclust.objectives import Absolute, OffDiagonal
from symclust.operators import as_operator
from symclust.reproduce._data import labelled
from symclust.reproduce._pieces import Extent, Piece, least_seconds, row_of
from symclust.reproduce._printed import Found, Key
from symclust.starts import Greedy

MODELS = ("OD-ℓ1", "OD-ℓ2", "Sym")
SPANS = {"balanced": (10, 10), "unbalanced": (7, 13)}
COLLECTIONS = ("Classic", "Ohscal", "Reviews", "la1", "k1b", "tr11", "tr23", "tr45")
SMALL = ("k1b", "tr11", "tr23", "tr45")


def pieces(extent: Extent) -> Iterator[Piece]:
    """Yield the pieces of tables 2 to 6."""
    for n in (100, 500):
        for k in (2, 5, 10):
            yield Piece(
                f"{n} nodes, {k} cliques", ("offdiagonal:2",), partial(_times, n, k, extent.runs(10, 3))
            )
    for k in (2, 5, 10):
        for kind in SPANS:
            work = partial(_cliques, k, kind, extent.runs(30, 10))
            yield Piece(f"{k} cliques, {kind}", ("offdiagonal:3",), work)
    for name in COLLECTIONS:
        file = f"{name.lower()}.npz"
        path = extent.data / file
        yield Piece(f"{name}, size", ("offdiagonal:4",), partial(_size, name, path), (file,), (name,))
        work = partial(_documents, name, path)
        yield Piece(name, ("offdiagonal:5", "offdiagonal:6"), work, (file,), (name,), name not in SMALL)


def _model(name: str, k: int, **options: Any) -> Any:
    if name == "Sym":
        return SymNMF(k, solver="coordinate", affinity="precomputed", **options)
    loss = "absolute" if name == "OD-ℓ1" else "squared"
    return OffDiagonalSymNMF(k, loss=loss, affinity="precomputed", **options)


def _times(n: int, k: int, runs: int) -> Iterator[Found]:
    """Yield milliseconds of processor time."""
    A = noisy_cliques([n // k] * k, 0.1, random_state=0)[0]
    for name, loss, model in (("ℓ1", Absolute, "OD-ℓ1"), ("ℓ2", OffDiagonal, "OD-ℓ2")):
        grow = partial(Greedy().factor, loss(as_operator(A)), k)
        start = np.random.default_rng(0).random((n, k))  # not the greedy one, where little is left to do
        fit = _model(model, k, init=start, max_iter=k, tol=0.0, solver="coordinate").fit
        numbers = {"greedy": least_seconds(grow, runs), "iterations": least_seconds(partial(fit, A), runs)}
        numbers = {f"{name} {column}": 1000 * seconds for column, seconds in numbers.items()}
        yield from row_of("offdiagonal:2", f"n = {n}, r = {k}", numbers, runs)


def _cliques(k: int, kind: str, runs: int) -> Iterator[Found]:
    sizes = np.linspace(*SPANS[kind], k).round().astype(int).tolist()
    for init in ("random", "zero", "greedy"):
        for name in MODELS:
            accuracy = []
            for seed in range(runs):
                A, H = noisy_cliques(sizes, 0.1, random_state=seed)
                fitted = _model(name, k, init=init, random_state=seed).fit(A)
                accuracy.append(100 * factor_accuracy(H, fitted.membership_))
            yield Found(
                Key("offdiagonal:3", f"{k} clusters {kind}", f"{init} {name}"), float(np.mean(accuracy)), runs
            )


def _size(name: str, path: Path) -> Iterator[Found]:
    X, y = labelled(path)
    numbers = {"documents": X.shape[0], "words": X.shape[1], "rank": len(np.unique(y))}
    return row_of("offdiagonal:4", name, numbers)


def _documents(name: str, path: Path) -> Iterator[Found]:
    X, y = labelled(path)
    unit, k = normalize(X), len(np.unique(y))
    A = _cosine(unit)
    measures = {
        "Accuracy": clustering_accuracy,
        "NMI": rand_score,
        "ARI": adjusted_rand_score,
    }
    options: dict[str, Any] = {"init": "greedy", "tol": 1e-4, "random_state": 0}
    for method in MODELS:
        labels = _model(method, k, **options).fit(A).labels_
        values = {measure: 100 * function(y, labels) for measure, function in measures.items()}
        yield from row_of("offdiagonal:6", name, {method: values["Accuracy"]})
        yield from row_of("offdiagonal:5", name, {f"{one} {method}": value for one, value in values.items()})
    others = {
        "k-Means": KMeans(k, n_init=10, random_state=0).fit(unit),
        "SC": SpectralClustering(k, affinity="precomputed", random_state=0).fit(A),
    }
    accuracy = {method: 100 * clustering_accuracy(y, one.labels_) for method, one in others.items()}
    yield from row_of("offdiagonal:6", name, accuracy)


def _cosine(unit: Any, rows: int = 512) -> Array:
    """Return the cosines of all pairs, block by block: one sparse product takes twice the memory."""
    A = np.empty((unit.shape[0],) * 2)
    transposed = unit.T.tocsr()
    for start in range(0, len(A), rows):
        A[start : start + rows] = (unit[start : start + rows] @ transposed).toarray()
    return A
