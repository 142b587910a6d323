"""The number of clusters that "auto" and others find on labelled data, by kind of data.

SYMCLUST_SELECTION_SETS names beginnings of the names of sets, separated by commas;
SYMCLUST_SELECTION_PEERS=0 leaves the other methods out. Of them k-means, mixtures, HDBSCAN and the eigengap
see at most 1,500 samples.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import laplacian
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from benchmarks._graphs import leiden
from benchmarks._tools import table
from benchmarks.selection import _sets as sets
from symclust import HierarchicalSymNMF, SymNMF, select_n_clusters
from symclust.graphs import nearest_neighbors

KINDS = (sets.of_shapes, sets.of_tables, sets.of_vectors, sets.of_documents, sets.of_networks, sets.of_lfr)
CANDIDATES = (*range(2, 13), 14, 16, 18, 20, 23, 26, 30, 35, 40, 46, 53, 60, 70)
SAMPLES, FEATURES = 1500, 20
CONSTANTS = (2, 3, 5, 10, 20)


def numbers(one: sets.Labelled) -> np.ndarray:
    """Return at most 1,500 samples as a few columns: standard units if they differ, principal components."""
    X = one.numbers
    X = X[np.random.RandomState(0).permutation(X.shape[0])[:SAMPLES]]
    if sparse.issparse(X):
        return TruncatedSVD(FEATURES, random_state=0).fit_transform(X)
    X = StandardScaler().fit_transform(X) if "tables" in one.group or one.group == "numbers" else X
    return PCA(FEATURES, random_state=0).fit_transform(X) if X.shape[1] > FEATURES else X


def possible(X: np.ndarray) -> list[int]:
    return [k for k in CANDIDATES if k <= len(X) // 4]


def silhouette(X: np.ndarray) -> int:
    def score(k: int) -> float:
        return float(silhouette_score(X, KMeans(k, n_init=3, random_state=0).fit(X).labels_))

    return max(possible(X), key=score)


def hdbscan(X: np.ndarray) -> int:
    return max(1, int(HDBSCAN(min_cluster_size=5, copy=True).fit(X).labels_.max()) + 1)


def bic(X: np.ndarray) -> int:
    def score(k: int) -> float:
        return float(GaussianMixture(k, random_state=0, reg_covar=1e-4).fit(X).bic(X))

    return min([1, *(k for k in possible(X) if k * X.shape[1] < len(X))], key=score)


def eigengap(X: np.ndarray) -> int:
    W = nearest_neighbors(X, normalize=False)
    values = np.linalg.eigvalsh(np.asarray(laplacian(W, normed=True).todense()))
    most = max(3, min(70, len(X) // 4))
    return int(np.diff(values[:most]).argmax()) + 1


def leiden_number(graph: Any) -> int:
    return int(leiden(graph, 0, n_iterations=-1).max()) + 1


def infomap_number(graph: Any) -> int:
    return len(graph.community_infomap())


PEERS: dict[str, Callable[[np.ndarray], int]] = {
    "silhouette": silhouette,
    "HDBSCAN": hdbscan,
    "BIC": bic,
    "eigengap": eigengap,
}
NETWORK_PEERS: dict[str, Callable[[Any], int]] = {"Leiden": leiden_number, "Infomap": infomap_number}


def answers(one: sets.Labelled) -> Iterator[tuple[str, int]]:
    began = time.process_time()
    selection = select_n_clusters(one.X, SymNMF(), random_state=0)
    asked = time.process_time()
    HierarchicalSymNMF(max(2, one.known[0]), random_state=0).fit(one.X)
    model = time.process_time()
    SymNMF(max(2, one.known[0]), random_state=0).fit(one.X)
    yield "auto", selection.n_clusters
    yield "runner-up", selection.runner_up or selection.n_clusters
    yield "seconds", round(asked - began, 3)
    yield "seconds over a fit", round((asked - began) / max(time.process_time() - model, 1e-3), 2)
    for k in CONSTANTS:
        yield f"always {k}", k
    if os.environ.get("SYMCLUST_SELECTION_PEERS") != "0":
        given = one.X if one.numbers is None else numbers(one)
        for name, method in (NETWORK_PEERS if one.numbers is None else PEERS).items():
            yield name, method(given)


def score(rows: list[dict[str, Any]], method: str) -> str:
    """Return exact / within one / mean absolute logarithm of the ratio."""
    found = [(row[method], row["labelled"].nearest(row[method])) for row in rows if method in row]
    if not found:
        return ""
    k, known = np.array(found, dtype=float).T
    measures = np.mean([k == known, abs(k - known) <= 1, abs(np.log(k / known))], axis=1)
    return " / ".join(f"{value:.2f}" for value in measures)


def main() -> None:
    wanted = tuple(os.environ.get("SYMCLUST_SELECTION_SETS", "").split(","))
    rows: list[dict[str, Any]] = []
    for one in (one for kind in KINDS for one in kind() if one.name.startswith(wanted)):
        row = {
            "group": one.group,
            "data": one.name,
            "known": one.known,
            "labelled": one,
            **dict(answers(one)),
        }
        rows.append(row)
        print({name: value for name, value in row.items() if name != "labelled"}, flush=True)
        row["labelled"] = one._replace(X=None, numbers=None)
    names = list(dict.fromkeys(name for row in rows for name in row))[4:]
    groups = {
        group: [row for row in rows if row["group"] == group]
        for group in dict.fromkeys(r["group"] for r in rows)
    }
    shown = []
    for group, own in groups.items():
        either = np.mean([{row["auto"], row["runner-up"]} & set(row["known"]) != set() for row in own])
        costs = np.median([row["seconds over a fit"] for row in own])
        scores = {name: score(own, name) for name in names if not name.startswith(("seconds", "runner-up"))}
        shown.append({"group": group, "sets": len(own), **scores, "first or second": either, "cost": costs})
    table("Number of clusters on labelled data", shown)
