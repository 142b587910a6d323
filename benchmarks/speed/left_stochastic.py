"""Speed of left-stochastic clustering and of kernel k-means, each beside what it must be compared with."""

from __future__ import annotations

import os
import resource
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from benchmarks._tools import labelled, seconds, table, timed
from symclust import HierarchicalLeftStochastic, KernelKMeans, LeftStochastic
from symclust.datasets import planted_partition
from symclust.graphs import normalized_cut
from symclust.metrics import clustering_accuracy, within_cluster_similarity
from symclust.operators import as_operator


def main() -> None:
    warnings.simplefilter("ignore")
    sparse_graph()  # first: what it reports of memory is the most that this process has held
    rotation_beside_eigsh()
    flat_beside_hierarchical()
    kernel_k_means()


def rotation_beside_eigsh() -> None:
    data = labelled("mnist6000")
    if data is None:
        return
    D = euclidean_distances(data[0] / 255, squared=True)
    rows = []
    for share in (0.25, 0.5):
        K = np.exp(-D / (share * np.median(D)))
        operator = as_operator(K)
        operator.eigsh(10)
        eigen, whole = [], []
        for _ in range(3):  # in turn, so that both meet the same machine
            eigen.append(seconds(lambda o=operator: o.eigsh(10)))
            whole.append(
                seconds(lambda K=K: LeftStochastic(10, affinity="precomputed", random_state=0).fit(K))
            )
        rows.append(
            {
                "bandwidth² (share of the median)": share,
                "eigsh s": min(eigen),
                "LeftStochastic s": min(whole),
                "ratio (at most 1.5)": min(whole) / min(eigen),
            }
        )
    table("Rotation LSD beside the eigsh it contains, mnist6000", rows)


def flat_beside_hierarchical(n: int = 3000, k: int = 100) -> None:
    rng = np.random.default_rng(0)
    centres = 1.2 * rng.normal(size=(k, 20))
    y = rng.integers(0, k, n)
    K = rbf_kernel(centres[y] + 0.6 * rng.normal(size=(n, 20)), gamma=1 / 40)
    models = {
        "flat": LeftStochastic(k, affinity="precomputed", random_state=0),
        "hierarchical": HierarchicalLeftStochastic(k, affinity="precomputed"),
    }
    rows = []
    for name, model in models.items():
        time = seconds(lambda m=model: m.fit(K), repeat=2)
        rows.append(
            {
                "LSD": name,
                "s": time,
                "within": within_cluster_similarity(K, model.labels_),
                "accuracy": clustering_accuracy(y, model.labels_),
            }
        )
    rows[1]["times faster (at least 10)"] = rows[0]["s"] / rows[1]["s"]
    table(f"Hierarchical LSD beside flat, n = {n}, k = {k}", rows)


def single_run(K: np.ndarray, k: int, rng: np.random.RandomState) -> float:
    """One run of kernel k-means in vectorised NumPy; returns the objective."""
    n, diagonal = len(K), np.diag(K)
    centres = rng.choice(n, k, replace=False)
    labels = (diagonal[centres] - 2 * K[:, centres]).argmin(axis=1)
    for _ in range(300):
        Z = np.zeros((n, k))
        Z[np.arange(n), labels] = 1
        sizes = np.maximum(Z.sum(axis=0), 1)
        attraction = K @ Z / sizes
        lengths = (Z * attraction).sum(axis=0) / sizes
        nearest = (lengths - 2 * attraction).argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
    return float(diagonal.sum() - lengths @ sizes)


def kernel_k_means(starts: int = 100) -> None:
    K = rbf_kernel(load_digits().data, gamma=1e-3)
    options = {"affinity": "precomputed", "n_init": starts, "random_state": 0}
    batched, model = timed(lambda: KernelKMeans(10, **options).fit(K))
    rng = np.random.RandomState(0)
    loop, objectives = timed(lambda: [single_run(K, 10, rng) for _ in range(starts)])
    table(
        f"Kernel k-means, {starts} starts, digits",
        [
            {
                "batched s": batched,
                "loop of single runs s": loop,
                "times faster (at least 5)": loop / batched,
                "best, batched": model.objective_,
                "best, loop": min(objectives),
                "mean, batched": model.inits_.mean(),
                "mean, loop": np.mean(objectives),
            }
        ],
    )


def sparse_graph(n: int = 100_000, k: int = 10) -> None:
    A, y = planted_partition(n, k, degree=20, mixing=0.2, random_state=0)
    A = normalized_cut(A)
    rows = []
    for name, model in {
        "rotation": LeftStochastic(k, affinity="precomputed", random_state=0),
        "multiplicative": LeftStochastic(
            k, affinity="precomputed", solver="multiplicative", n_init=1, max_iter=50, random_state=0
        ),
        "hierarchical": HierarchicalLeftStochastic(k, affinity="precomputed"),
    }.items():
        before = _resident()
        time, _ = timed(lambda m=model: m.fit(A))
        rows.append(
            {
                "LSD": name,
                "s": time,
                "accuracy": clustering_accuracy(y, model.labels_),
                "MB before": before,
                "MB at most": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    table(
        f"LSD of a sparse graph, {n} nodes, {A.nnz // 2} edges (n × n would be {8 * n * n / 2**20:.0f} MB)",
        rows,
    )


def _resident() -> float:
    """Memory in use, in MB; 0 where the system does not tell."""
    status = Path(f"/proc/{os.getpid()}/statm")
    return int(status.read_text().split()[1]) * resource.getpagesize() / 2**20 if status.exists() else 0.0


if __name__ == "__main__":
    main()
