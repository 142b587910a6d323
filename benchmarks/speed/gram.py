"""All-pairs cosines of documents: sweeps on the sparse data itself, in blocks of rows, and other methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.pairwise import cosine_similarity

from benchmarks._tools import labelled, seconds, table, timed
from symclust import SphericalKMeans, SymNMF
from symclust.documents import DocumentWeights
from symclust.graphs import cosine
from symclust.metrics import clustering_accuracy
from symclust.objectives import Frobenius
from symclust.operators import Gram
from symclust.starts import Random

COLLECTIONS = ("tdt2", "reviews", "k1b")


class InBlocks(Gram):
    """The same A for a solver that is told nothing of its sparse factor: diagonal blocks of A are formed."""

    factored = None

    @classmethod
    def of(cls, A: Gram) -> InBlocks:
        other = object.__new__(cls)
        other.__dict__.update({name: value for name, value in vars(A).items() if name != "_squared_norm"})
        return other


def main() -> None:
    for name in COLLECTIONS:
        data = labelled(name)
        if data is None:
            continue
        X, y = DocumentWeights().fit_transform(data[0]), data[1]
        k = int(y.max()) + 1
        table(f"All pairs of {name}: {X.shape[0]} documents, {X.nnz} entries, {k} clusters", fits(X, y, k))
        table(f"The parts of a fit on all pairs of {name} (seconds)", [parts(X, k)])


def fits(X: Any, y: np.ndarray, k: int) -> list[dict[str, Any]]:
    rows = []
    for normalize in (False, True):
        graph = "normalised cut" if normalize else "cosines"
        for form, read in (("on the data", lambda A: A), ("in blocks of rows", InBlocks.of)):
            spent, model = timed(lambda n=normalize, r=read: factor(r(cosine(X, normalize=n)), k))
            found = {"objective": model.objective_, "iterations": model.n_iter_}
            rows.append(
                {"method": f"SymNMF {form}", "graph": graph, **judged(spent, model.labels_, y), **found}
            )
    others: dict[str, Callable[[], Any]] = {
        "spherical k-means": lambda: SphericalKMeans(k, random_state=0).fit(X).labels_,
        "scikit-learn spectral": lambda: spectral(X, k),
    }
    for method, cluster in others.items():
        spent, labels = timed(cluster)
        rows.append({"method": method, **judged(spent, labels, y)})
    return rows


def factor(A: Gram, k: int) -> SymNMF:
    return SymNMF(k, affinity="precomputed", random_state=0).fit(A)


def spectral(X: Any, k: int) -> np.ndarray:
    """Normalised cut of the n × n array of all cosines, which scikit-learn needs."""
    A = cosine_similarity(X)
    return (
        SpectralClustering(k, affinity="precomputed", random_state=0, assign_labels="kmeans").fit(A).labels_
    )


def judged(spent: float, labels: np.ndarray, y: np.ndarray) -> dict[str, float]:
    nmi = normalized_mutual_info_score(y, labels)
    return {"seconds": spent, "NMI": nmi, "accuracy": clustering_accuracy(y, labels)}


def parts(X: Any, k: int) -> dict[str, float]:
    """A product, ten sweeps with k columns in both forms, and the norm; best of three."""
    A = cosine(X)
    H = Random().factor(Frobenius(A), k, np.random.RandomState(0))
    row = {"product": seconds(lambda: A @ H, 3), "norm": seconds(A._sum_of_squares, 3)}
    options = {"affinity": "precomputed", "init": H, "tol": 0.0, "max_iter": 10}
    for form, B in (("on the data", A), ("in blocks of rows", InBlocks.of(A))):
        B.squared_norm()
        row[f"10 sweeps {form}"] = seconds(lambda B=B: SymNMF(k, **options).fit(B), 3)
    return row


if __name__ == "__main__":
    main()
