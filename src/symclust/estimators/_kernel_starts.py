"""Where kernel k-means starts."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.baselines import k_means
from symclust.estimators._kernel_runs import KernelRuns

INITS = ("auto", "samples", "spectral")


def first_labels(runs: KernelRuns, init: str, n_init: int, rng: np.random.RandomState) -> list[Array]:
    """Return the labels that n_init runs start from.

    "samples" chooses k samples as centres. In a sparse graph most samples have nothing in common with any of
    them: there "auto" takes "spectral", k-means from different seeds on the leading eigenvectors.
    """
    n, k = runs.operator.n, runs.k
    if init == "auto":
        init = "samples" if runs.operator.is_dense else "spectral"
    if init == "samples" or k >= n:
        return runs.nearest([rng.choice(n, k, replace=False) for _ in range(n_init)])
    _, vectors = runs.operator.scaled(np.sqrt(runs.weights)).eigsh(k)
    seeds = rng.randint(np.iinfo(np.int32).max, size=n_init)
    rows = vectors / np.sqrt(runs.weights)[:, None]
    return [k_means(rows, k, 1, seed).labels_.astype(np.intp) for seed in seeds]
