"""A million short documents: time of a topic tree against documents and leaves, and where it goes."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._documents import newsgroups_counts
from benchmarks._tools import table, timed
from symclust import HierarchicalNMF
from symclust.documents import DocumentWeights

SIZES = (125_000, 250_000, 500_000, 1_000_000)
LEAVES = (15, 30, 60)


def main() -> None:
    data = newsgroups_counts()
    if data is None:
        return
    counts, levels = data
    by_size = [measure(sampled(counts, levels[-1], n), n, 60) for n in SIZES]
    X = sampled(counts, levels[-1], SIZES[1])
    by_leaves = [measure(X, SIZES[1], k) for k in LEAVES]
    title = "Topic trees of sampled documents, 60 leaves"
    table(title, by_size, [{"x": "documents", "y": "s", "by": "method"}])
    table(
        f"Topic trees of {SIZES[1]} sampled documents", by_leaves, [{"x": "leaves", "y": "s", "by": "method"}]
    )


def sampled(counts: Any, y: np.ndarray, n: int, length: int = 30) -> sp.csr_array:
    """Documents of about `length` words, each from the word frequencies of one group."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, y.max() + 1, n)
    lengths = rng.poisson(length, n) + 1
    indptr = np.append(0, np.cumsum(lengths))
    words = np.empty(indptr[-1], dtype=np.int32)
    chances = rng.random(indptr[-1], dtype=np.float32)
    group_of_word = np.repeat(groups.astype(np.int8), lengths)
    for group in range(y.max() + 1):
        frequency = np.asarray(counts[y == group].sum(axis=0)).ravel()
        mine = np.flatnonzero(group_of_word == group)
        ends = np.cumsum(frequency / frequency.sum())
        words[mine] = np.minimum(np.searchsorted(ends, chances[mine]), len(ends) - 1)
    ones = np.ones(len(words), dtype=np.float32)
    X = sp.csr_array((ones, words, indptr.astype(np.int32)), shape=(n, counts.shape[1]))
    X.sum_duplicates()
    return DocumentWeights().fit_transform(X)


def measure(X: Any, n: int, k: int) -> dict[str, Any]:
    seconds, model = timed(lambda: HierarchicalNMF(k, random_state=0).fit(X))
    spent = model.timings_
    busy = spent["splits"] + spent["copies"] + spent["scores"]
    row = {
        "method": "HierarchicalNMF",
        "documents": n,
        "nonzeros": X.nnz,
        "leaves": len(model.components_),
        "s": seconds,
        "iterations": model.n_iter_,
        **{f"{name} %": 100 * spent[name] / busy for name in ("splits", "copies", "scores")},
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
