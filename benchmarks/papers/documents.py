"""Offdiagonal 5.2: document collections by the cosine of their word counts; tables 5 and 6.

All collections, or those named: `python -m benchmarks.papers.documents tr11 reviews`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import normalize

from benchmarks._tools import labelled, table, timed
from symclust import OffDiagonalSymNMF, SymNMF
from symclust.metrics import clustering_accuracy

TOL, MAX_ITER = 1e-4, 1000
METHODS = ("OD-ℓ1", "OD-ℓ2", "Sym", "k-means", "spectral")

# Table 6: accuracy in % of the five methods, on the collections from small to large
PAPER = {
    "tr23": (36.76, 35.29, 35.29, 45.55, 43.54),
    "tr11": (51.21, 59.90, 59.66, 23.40, 38.91),
    "tr45": (43.04, 42.61, 42.90, 33.23, 39.16),
    "k1b": (66.45, 58.68, 57.18, 37.42, 36.90),
    "la1": (40.61, 48.81, 49.16, 46.29, 48.49),
    "reviews": (70.07, 49.55, 49.37, 36.02, 51.34),
    "classic": (66.33, 63.67, 63.67, 51.66, 52.39),
    "ohscal": (38.08, 43.16, 43.24, 38.51, 41.34),
}


def cosine(unit: Any, rows: int = 512) -> np.ndarray:
    """Cosines of all pairs as a dense array, block by block: one sparse product takes twice the memory."""
    A = np.empty((unit.shape[0],) * 2)
    transposed = unit.T.tocsr()
    for start in range(0, len(A), rows):
        A[start : start + rows] = (unit[start : start + rows] @ transposed).toarray()
    return A


def cluster(method: str, A: np.ndarray, unit: Any, k: int) -> Callable[[], Any]:
    options = {
        "affinity": "precomputed",
        "init": "greedy",
        "tol": TOL,
        "max_iter": MAX_ITER,
        "random_state": 0,
    }
    model = {
        "OD-ℓ1": lambda: OffDiagonalSymNMF(k, loss="absolute", **options),
        "OD-ℓ2": lambda: OffDiagonalSymNMF(k, loss="squared", **options),
        "Sym": lambda: SymNMF(k, solver="coordinate", **options),
        "k-means": lambda: KMeans(k, n_init=10, random_state=0),
        "spectral": lambda: SpectralClustering(k, affinity="precomputed", random_state=0),
    }[method]()
    return lambda: model.fit(unit if method == "k-means" else A)


def measure(name: str, X: Any, y: np.ndarray) -> list[dict[str, Any]]:
    unit = normalize(X)
    A = cosine(unit)
    rows = []
    for method, theirs in zip(METHODS, PAPER[name], strict=True):
        seconds, fitted = timed(cluster(method, A, unit, len(np.unique(y))))
        accuracy = 100 * clustering_accuracy(y, fitted.labels_)
        row = {
            "data": name,
            "method": method,
            "accuracy": round(accuracy, 2),
            "paper": theirs,
            "difference": round(accuracy - theirs, 2),
            "NMI": round(100 * normalized_mutual_info_score(y, fitted.labels_), 2),
            "ARI": round(100 * adjusted_rand_score(y, fitted.labels_), 2),
            "s": round(seconds, 2),
            "iterations": getattr(fitted, "n_iter_", ""),
            "converged": getattr(fitted, "converged_", ""),
        }
        print(row, flush=True)
        rows.append(row)
    return rows


def means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean accuracy of each method over the collections measured, ours and the paper's."""
    found = []
    for method in METHODS:
        of = [row for row in rows if row["method"] == method]
        ours, theirs = (float(np.mean([row[key] for row in of])) for key in ("accuracy", "paper"))
        found.append(
            {
                "method": method,
                "collections": len(of),
                "ours": round(ours, 2),
                "paper": round(theirs, 2),
                "difference": round(ours - theirs, 2),
                "below": "**below**" if ours < theirs else "",
            }
        )
    return found


def main(names: Sequence[str] = ()) -> None:
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for name in names or PAPER:
        if name not in PAPER:
            sys.exit(f"{name!r} is not one of the collections: {', '.join(PAPER)}.")
        data = labelled(name)
        if data is not None:
            rows += measure(name, *data)  # the similarity is freed before the next one is made
    if rows:
        table("Tables 5 and 6: document collections, cosine of counts, greedy start", rows)
        table("Mean accuracy in % over the collections", means(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
