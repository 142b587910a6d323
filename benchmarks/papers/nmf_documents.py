"""Thesis 2.2: k-means, NMF and sparse NMF on documents; the rows of tables 2 to 4 for TDT2 and 20 Newsgroups.

Documents are prepared as in 2.2.1: terms seen fewer than three times and documents of fewer than five words
are dropped, tf-idf, rows of length 1, normalised-cut weights (7). Starts are the same for all NMF methods.
The thesis does not say how it tokenises, which tf-idf it takes, when it stops, or how long multiplicative
updates run: here the plain tf · log(n / df), `tol` 1e-3, and 200 iterations at most. The texts of 20
Newsgroups at hand have no line breaks left, so that cited lines and signatures cannot be told from the rest.

`python -m benchmarks.papers nmf_documents` runs all; STARTS in the environment sets how many (20).
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import normalized_mutual_info_score

from benchmarks._tools import labelled, table, timed
from symclust import NMF, SparseNMF
from symclust.documents import DocumentWeights
from symclust.metrics import clustering_accuracy

STARTS = int(os.environ.get("STARTS", "20"))
TOL, MAX_ITER = 1e-3, 200
# Tables 2 and 3 (accuracy, NMI) and table 4 (zeros of the terms' and of the documents' factor, in %).
PAPER = {
    "tdt2": {
        "k-means": (0.6711, 0.7644, "", ""),
        "NMF/MU": (0.8022, 0.8486, 21.05, 6.08),
        "NMF/ANLS": (0.8505, 0.8696, 55.14, 50.53),
        "Sparse NMF/ANLS": (0.8644, 0.8786, 52.81, 65.55),
    },
    "20newsgroups": {
        "k-means": (0.1719, 0.2822, "", ""),
        "NMF/MU": (0.3735, 0.4069, 46.38, 15.73),
        "NMF/ANLS": (0.4150, 0.4304, 71.87, 56.16),
        "Sparse NMF/ANLS": (0.3970, 0.4283, 71.01, 75.22),
    },
}


def frequent(counts: sp.csr_array, y: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
    """Drop terms seen fewer than three times, then documents of fewer than five words."""
    counts = sp.csr_array(counts[:, np.asarray(counts.sum(axis=0)).ravel() >= 3])
    kept = np.asarray(counts.sum(axis=1)).ravel() >= 5
    return sp.csr_array(counts[kept]), y[kept]


def tdt2() -> tuple[sp.csr_array, np.ndarray] | None:
    """The 20 largest classes."""
    data = labelled("tdt2")
    if data is None:
        return None
    X, y = data
    chosen = np.isin(y, np.argsort(-np.bincount(y))[:20])
    return frequent(X[chosen], y[chosen])


def newsgroups() -> tuple[sp.csr_array, np.ndarray] | None:
    """Posts, without cited lines and signatures as far as lines are left."""
    path = Path(os.environ.get("SYMCLUST_DATA", "")) / "20newsgroups_text.jsonl.gz"
    if not path.exists():
        print(f"(skipped 20 Newsgroups: set SYMCLUST_DATA to the folder that holds {path.name})")
        return None
    with gzip.open(path, "rt") as file:
        posts = [json.loads(line) for line in file]
    texts = [
        "\n".join(line for line in post["text"].split("\n") if not line.startswith((">", "--")))
        for post in posts
    ]
    counts = CountVectorizer(stop_words="english", dtype=np.float64).fit_transform(texts)
    return frequent(
        sp.csr_array(counts), np.unique([post["label"] for post in posts], return_inverse=True)[1]
    )


def models(k: int, seed: int) -> Iterator[tuple[str, Any]]:
    options = {"init": "random", "tol": TOL, "max_iter": MAX_ITER, "random_state": seed}
    yield "k-means", KMeans(k, init="random", n_init=1, random_state=seed)
    yield "NMF/MU", NMF(k, solver="multiplicative", **options)
    yield "NMF/ANLS", NMF(k, solver="bpp", **options)
    yield "Sparse NMF/ANLS", SparseNMF(k, solver="bpp", **options)


def measure(model: Any, X: sp.csr_array, y: np.ndarray) -> dict[str, float]:
    seconds, fitted = timed(lambda: model.fit(X))
    found = {
        "accuracy": clustering_accuracy(y, fitted.labels_),
        "NMI": normalized_mutual_info_score(y, fitted.labels_),
        "s": seconds,
        "iterations": fitted.n_iter_,
    }
    if hasattr(fitted, "components_"):
        found["zeros of terms, %"] = 100 * float(np.mean(fitted.components_ == 0))
        found["zeros of documents, %"] = 100 * float(np.mean(fitted.membership_ == 0))
        found["stationarity"] = float(fitted.history_.stationarity[-1])
        found["relative error"] = fitted.relative_error_
    return found


def run(name: str, X: sp.csr_array, y: np.ndarray) -> list[dict[str, Any]]:
    found: dict[str, list[dict[str, float]]] = {}
    for seed in range(STARTS):
        for method, model in models(len(np.unique(y)), seed):
            found.setdefault(method, []).append(measure(model, X, y))
            print(name, seed, method, {key: round(v, 4) for key, v in found[method][-1].items()}, flush=True)
    return [row(name, method, runs) for method, runs in found.items()]


def row(name: str, method: str, runs: list[dict[str, float]]) -> dict[str, Any]:
    """Means over the starts beside the paper's, and the standard deviation of the accuracy."""
    means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    accuracy, nmi, terms, documents = PAPER[name][method]
    return {
        "data": name,
        "method": method,
        "starts": len(runs),
        "accuracy": means["accuracy"],
        "±": float(np.std([run["accuracy"] for run in runs])),
        "paper's": accuracy,
        "NMI": means["NMI"],
        "paper's ": nmi,
        "zeros of terms, %": means.get("zeros of terms, %", ""),
        "paper's  ": terms,
        "zeros of documents, %": means.get("zeros of documents, %", ""),
        "paper's   ": documents,
        "stationarity": means.get("stationarity", ""),
        "relative error": means.get("relative error", ""),
        "iterations": means["iterations"],
        "s": means["s"],
    }


def main(names: Sequence[str] = ()) -> None:
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for name, read in (("tdt2", tdt2), ("20newsgroups", newsgroups)):
        data = read() if not names or name in names else None
        if data is not None:
            counts, y = data
            print(
                f"{name}: {counts.shape[0]} documents, {counts.shape[1]} terms, {counts.nnz} entries",
                flush=True,
            )
            rows += run(name, DocumentWeights(tfidf="plain").fit_transform(counts), y)
    if rows:
        table("Thesis tables 2 to 4: documents", rows)


if __name__ == "__main__":
    main(sys.argv[1:])
