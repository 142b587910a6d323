"""HierarchicalNMF beside scikit-learn's NMF: time, and agreement with the classes at every level."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import NMF
from sklearn.metrics import normalized_mutual_info_score as nmi

from benchmarks._documents import largest_classes, newsgroups_counts
from benchmarks._tools import table, timed
from symclust import HierarchicalNMF
from symclust.documents import DocumentWeights


def main(seeds: int = 3) -> None:
    warnings.simplefilter("ignore")
    for name, data, k in (
        ("20 Newsgroups", newsgroups_counts(), 20),
        ("TDT2, 20 largest classes", largest_classes("tdt2"), 20),
        ("Reuters, 20 largest classes", largest_classes("reuters21578_41"), 20),
        ("20 Newsgroups", newsgroups_counts(), 100),
    ):
        if data is not None:
            compare(name, DocumentWeights().fit_transform(data[0]), data[1], k, seeds)


def compare(name: str, X: Any, levels: list[np.ndarray], k: int, seeds: int) -> None:
    first = {kind: tree(X.astype(kind), k, 0) for kind in (np.float64, np.float32)}
    flat, labels = timed(lambda: flat_nmf(X, k))
    rows = [{"method": f"NMF({k}), float64", "s": flat, **agreement(levels, [labels])}]
    for kind in (np.float64, np.float32):
        runs = [tree(X.astype(kind), k, seed) for seed in range(1, seeds)]
        runs.append(first[kind])  # some before and some after the flat one: both meet the same machine
        best = min(seconds for seconds, _ in runs)
        rows.append(
            {
                "method": f"HierarchicalNMF({k}), {kind.__name__}",
                "s": best,
                "times faster": flat / best,
                **agreement(levels, [model.labels_ for _, model in runs]),
                "outliers": np.mean([len(model.outliers_) for _, model in runs]),
                "iterations": np.mean([model.n_iter_ for _, model in runs]),
            }
        )
        topics = [timed(model.flatten) for _, model in runs]
        added = min(seconds for seconds, _ in topics)
        found = agreement(levels, [flat.labels_ for _, flat in topics])
        rows.append(
            {"method": "  and flatten()", "s": best + added, "times faster": flat / (best + added), **found}
        )
    table(f"{name}: {X.shape[0]} x {X.shape[1]}, {X.nnz} nonzeros, {k} clusters", rows)


def tree(X: Any, k: int, seed: int) -> tuple[float, HierarchicalNMF]:
    return timed(lambda: HierarchicalNMF(k, random_state=seed).fit(X))


def flat_nmf(X: Any, k: int) -> np.ndarray:
    model = NMF(k, init="nndsvda", random_state=0)
    W = model.fit_transform(X)
    return (W * np.linalg.norm(model.components_, axis=1)).argmax(axis=1)


def agreement(levels: list[np.ndarray], labels: list[np.ndarray]) -> dict[str, str]:
    """NMI with each level of classes, mean (least) over the runs; outliers are one cluster, as in 5.6.3."""
    found = np.array([[nmi(level, run) for level in levels] for run in labels])
    return {
        f"NMI {i}": f"{column.mean():.3f}" + (f" ({column.min():.3f})" if len(column) > 1 else "")
        for i, column in enumerate(found.T, start=1)
    }


if __name__ == "__main__":
    main()
