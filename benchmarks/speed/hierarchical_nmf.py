"""HierarchicalNMF beside scikit-learn's NMF and hnmf's tree: time, and agreement with classes by level."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import NMF
from sklearn.metrics import normalized_mutual_info_score as nmi

from benchmarks._documents import largest_classes, newsgroups_counts
from benchmarks._tools import table, timed
from benchmarks.speed._matrix_methods import hnmf_tree
from benchmarks.speed._peers import run, stored
from symclust import HierarchicalNMF
from symclust.documents import DocumentWeights

OTHERS_SECONDS = 120.0


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
    rows += other_tree(X, levels, k, min(row["s"] for row in rows[1:]))
    table(f"{name}: {X.shape[0]} x {X.shape[1]}, {X.nnz} nonzeros, {k} clusters", rows)


def other_tree(X: Any, levels: list[np.ndarray], k: int, ours: float) -> list[dict[str, Any]]:
    """Return the tree of hnmf, in a process of its own; its seconds beside ours."""
    with stored(csr_array(X)) as folder:
        outcome = run(hnmf_tree, folder, OTHERS_SECONDS, k=k)
    if outcome.failed:
        return [{"method": hnmf_tree.name, "why not": outcome.facts["why not"]}]
    labels, seconds = outcome.answer["labels"], outcome.facts["s"]
    found = {"leaves": len(np.unique(labels[labels >= 0])), "outliers": float((labels < 0).sum())}
    row = {"method": hnmf_tree.name, "s": seconds, "times as long as our tree": seconds / ours}
    return [row | agreement(levels, [labels]) | found]


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
