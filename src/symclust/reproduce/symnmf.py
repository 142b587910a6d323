"""SymNMF, and chapter 3 of the thesis: eigenvalues, eight methods on graphs, and two solvers.

Readings: images are scaled to [0, 1] one by one for methods on features, and graphs are made of them as they
are. Words are weighted by tf · log(n / df). The eigenvalues of table 2 come out for points that are centred
and divided by the largest entry, and a similarity without its diagonal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from symclust._types import Array
from symclust.documents import DocumentWeights
from symclust.estimators import (
    NMF,
    GraphNMF,
    KernelKMeans,
    SpectralNJW,
    SpectralYuShi,
    SphericalKMeans,
    SymNMF,
)
from symclust.graphs import gaussian, nearest_neighbors
from symclust.k_means import both_phases
from symclust.metrics import clustering_accuracy
from symclust.reproduce._data import documents, labelled
from symclust.reproduce._pieces import Extent, Piece, row_of
from symclust.reproduce._printed import Found, Key

TEXTS = {"TDT2": "tdt2.npz", "Reuters": "reuters21578_41.npz"}
IMAGES = {"COIL-20": "coil20.npz", "ORL": "orl_32x32.npz", "Extended YaleB": "yaleb_32x32.npz"}
METHODS = ("KM", "SKM", "KKM", "NMF", "GNMF", "SpNJW", "SpYS", "SymNMF")
IN_THESIS = {"Reuters": "Reuters-21578"}  # what its chapter 3 calls the rows
TOY = "zelnik_toy.npz"
SIGMA, GNMF_WEIGHT = 0.05, 100.0


def pieces(extent: Extent) -> Iterator[Piece]:
    """Yield the pieces of both documents' tables."""
    eigen = ("symnmf:2", "symnmf:fig5", "symnmf:fig6", "thesis:6")
    yield Piece("303 points", eigen, partial(_eigengap, extent.data / TOY, extent.runs(20, 3)), (TOY,))
    for name, file in {**TEXTS, **IMAGES}.items():
        about, path, runs = (name, IN_THESIS.get(name, name)), extent.data / file, extent.runs(20, 3)
        yield Piece(f"{name}, size", ("symnmf:4", "thesis:8"), partial(_size, name, path), (file,), about)
        tables = ("symnmf:5", "symnmf:6", "thesis:9", "thesis:10")
        for method in METHODS[:-1] if name in IMAGES else METHODS:
            work = partial(_accuracies, name, path, method, runs)
            yield Piece(f"{name}, {method}", tables, work, (file,), about)
        for solver in ("Newton-like", "ANLS") if name in IMAGES else ():
            also = tables if solver == "Newton-like" else ()  # it is the SymNMF of images there
            work = partial(_solver, name, path, solver, runs)
            yield Piece(f"{name}, {solver}", ("symnmf:7", "thesis:11", *also), work, (file,), about)


def _both(number: int, thesis: int, row: str, column: str, value: float, runs: int = 1) -> Iterator[Found]:
    yield Found(Key(f"symnmf:{number}", row, column), value, runs)
    yield Found(Key(f"thesis:{thesis}", IN_THESIS.get(row, row), column), value, runs)


def _eigengap(path: Path, runs: int) -> Iterator[Found]:
    with np.load(path) as file:
        X, y = file["X2"].astype(float), file["y2"]
    X -= X.mean(axis=0)
    A = gaussian(X / abs(X).max(), sigma=SIGMA, normalize=True)
    for place, value in zip(("1st", "2nd", "3rd", "4th"), np.linalg.eigvalsh(A)[::-1], strict=False):
        yield from _both(2, 6, place, "eigenvalue", value)
    options: dict[str, Any] = {"affinity": "precomputed", "normalize": False, "n_init": 1}
    spectral = [SpectralNJW(3, random_state=seed, **options).fit(A).labels_ for seed in range(runs)]
    ours = [_sym_nmf(A, 3, seed, "row_descent").labels_ for seed in range(runs)]
    yield from row_of(
        "symnmf:fig5", "largest group", {"points": max(int(np.bincount(labels).max()) for labels in spectral)}
    )
    for column, found in (("Spectral clustering", spectral), ("SymNMF", ours)):
        accuracy = float(np.mean([clustering_accuracy(y, labels) for labels in found]))
        yield from row_of("symnmf:fig6", "accuracy", {column: accuracy}, runs)


def _size(name: str, path: Path) -> Iterator[Found]:
    X, y = _samples(name, path)
    numbers = {"dimension": X.shape[1], "samples": X.shape[0], "clusters": len(np.unique(y))}
    yield from row_of("symnmf:4", name, numbers)
    yield from row_of("thesis:8", IN_THESIS.get(name, name), numbers)


def _samples(name: str, path: Path) -> tuple[Any, Array]:
    return documents(path) if name in TEXTS else labelled(path)


@cache
def _features(name: str, path: Path) -> Any:
    """Return the input of k-means and NMF."""
    X = _samples(name, path)[0]
    if name in TEXTS:
        return DocumentWeights(tfidf="plain").fit_transform(X)
    low, high = X.min(axis=1, keepdims=True), X.max(axis=1, keepdims=True)
    return (X - low) / (high - low)


@cache
def _graph(name: str, path: Path, normalize: bool = True) -> Any:
    """Return the graph of section 7.1."""
    if name in TEXTS:  # the lengths of rows do not matter for cosines
        return nearest_neighbors(_features(name, path), weights="cosine", normalize=normalize)
    return nearest_neighbors(_samples(name, path)[0], normalize=normalize)


def _sym_nmf(A: Any, k: int, seed: int, solver: str) -> Any:
    options: dict[str, Any] = {"init": "random", "tol": 1e-4, "max_iter": 10_000, "affinity": "precomputed"}
    return SymNMF(k, solver=solver, random_state=seed, **options).fit(A)


def _fit(name: str, path: Path, method: str, k: int, seed: int) -> tuple[Array, float]:
    """Return labels, and the objective that the best of several starts is chosen by."""
    once: dict[str, Any] = {"n_init": 1, "random_state": seed}
    graph: dict[str, Any] = {"affinity": "precomputed", **once}
    fits: dict[str, Callable[[], Any]] = {
        "KM": lambda: both_phases(_features(name, path), k, seed, init="random"),
        "SKM": lambda: SphericalKMeans(k, **once).fit(_features(name, path)),
        "KKM": lambda: KernelKMeans(k, weights="degree", indefinite="ignore", init="samples", **graph).fit(
            _graph(name, path, False)
        ),
        "NMF": lambda: NMF(k, init="random", max_iter=200, **once).fit(_features(name, path)),
        "GNMF": lambda: _gnmf(_features(name, path), _graph(name, path, False), k, once),
        "SpNJW": lambda: SpectralNJW(k, normalize=False, **graph).fit(_graph(name, path)),
        "SpYS": lambda: SpectralYuShi(k, normalize=False, **graph).fit(_graph(name, path)),
        "SymNMF": lambda: _sym_nmf(_graph(name, path), k, seed, "anls"),
    }
    model = fits[method]()
    return model.labels_, model.inertia_ if method == "KM" else model.objective_


def _gnmf(X: Any, E: Any, k: int, once: dict[str, Any]) -> Any:
    """Return NMF with a graph of binary weights, its labels from spherical k-means on the memberships."""
    options: dict[str, Any] = {
        "graph": (E > 0).astype(float),
        "graph_regularization": GNMF_WEIGHT,
        "scaled": False,
        "solver": "multiplicative_as_printed",
        "max_iter": 200,
    }
    model = GraphNMF(k, init="random", **options, **once).fit(X)
    model.labels_ = SphericalKMeans(k, **once).fit(model.membership_).labels_
    return model


def _accuracies(name: str, path: Path, method: str, runs: int) -> Iterator[Found]:
    y = _samples(name, path)[1]
    k = len(np.unique(y))
    found = [_fit(name, path, method, k, seed) for seed in range(runs)]
    yield from _summary(
        name, method, [clustering_accuracy(y, labels) for labels, _ in found], [o for _, o in found]
    )


def _summary(name: str, method: str, accuracy: list[float], objective: list[float]) -> Iterator[Found]:
    """Yield the mean, that of the lowest objective (symnmf) and the largest (thesis)."""
    runs = len(accuracy)
    yield from _both(5, 9, name, method, float(np.mean(accuracy)), runs)
    yield Found(Key("symnmf:6", name, method), accuracy[int(np.argmin(objective))], runs)
    yield Found(Key("thesis:10", IN_THESIS.get(name, name), method), max(accuracy), runs)


def _solver(name: str, path: Path, solver: str, runs: int) -> Iterator[Found]:
    """Yield accuracy and processor seconds: means for symnmf:7, of the best run for thesis:11."""
    A, y = _graph(name, path), labelled(path)[1]
    accuracy, seconds, objective = [], [], []
    for seed in range(runs):
        begun = time.process_time()
        model = _sym_nmf(A, len(np.unique(y)), seed, {"Newton-like": "newton", "ANLS": "anls"}[solver])
        seconds.append(time.process_time() - begun)
        accuracy.append(clustering_accuracy(y, model.labels_))
        objective.append(model.objective_)
    best = int(np.argmax(accuracy))
    for column, values in (("accuracy", accuracy), ("seconds", seconds)):
        yield Found(Key("symnmf:7", name, f"{solver} {column}"), float(np.mean(values)), runs)
        yield Found(Key("thesis:11", name, f"{solver} {column}"), values[best], runs)
    if solver == "Newton-like":
        yield from _summary(name, "SymNMF", accuracy, objective)
