"""The sixteen methods of leftstochastic tables 3-6, by the papers' names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from symclust import (
    Diana,
    DivisiveClustering,
    HierarchicalLeftStochastic,
    KernelConvexNMF,
    KernelKMeans,
    LeftStochastic,
    LinkageClustering,
    SpectralNJW,
    SpectralUnnormalized,
    SpectralYuShi,
)
from symclust.estimators.left_stochastic import descend_multiplicatively, random_memberships
from symclust.left_stochastic import embed
from symclust.operators import as_operator
from symclust.solvers import Control

Method = Callable[[np.ndarray, int, int], np.ndarray]


def multiplicative_as_printed(
    K: np.ndarray, k: int, seed: int, max_iter: int = 500
) -> tuple[np.ndarray, float]:
    """Lee and Seung's update, a projection after each step; return the labels and the norm of table 2."""
    operator, rng = as_operator(K), check_random_state(seed)
    start = random_memberships(operator, k, rng)
    scale = embed(operator, k).scale
    result = descend_multiplicatively(operator, scale, [start], Control(1e-9, max_iter), multipliers=False)[0]
    return result.H.argmax(axis=1), float(np.sqrt(result.objective))


def methods(starts: int = 100, iterations: int = 500) -> dict[str, Method]:
    """Return each method as a function of the similarity, the number of clusters and a seed.

    At most `iterations` of those that need a product with the similarity for each.
    """
    kernel = {"n_init": starts}
    table: dict[str, Callable[[int], Any]] = {
        "LSD (M-Upd.), with multipliers": lambda seed: LeftStochastic(
            solver="multiplicative", n_init=1, max_iter=2 * iterations, random_state=seed
        ),
        "LSD (Rotation)": lambda seed: LeftStochastic(random_state=seed),
        "Hier. LSD": lambda seed: HierarchicalLeftStochastic(),
        "Kernel Conv. NMF": lambda seed: KernelConvexNMF(max_iter=iterations, random_state=seed),
        "Kernel k-Means": lambda seed: KernelKMeans(random_state=seed, **kernel),
        "Unnorm. Spec.": lambda seed: SpectralUnnormalized(n_init=starts, random_state=seed),
        "Norm. Spec": lambda seed: SpectralNJW(n_init=starts, random_state=seed),
        "Yu-Shi (not in the paper)": lambda seed: SpectralYuShi(random_state=seed),
        "Sing. Link.": lambda seed: LinkageClustering(linkage="single"),
        "Comp. Link.": lambda seed: LinkageClustering(linkage="complete"),
        "Avg. Link.": lambda seed: LinkageClustering(linkage="average"),
        "DIANA": lambda seed: Diana(),
    }
    found: dict[str, Method] = {
        "LSD (M-Upd.)": lambda K, k, seed: multiplicative_as_printed(K, k, seed, iterations)[0]
    }
    for name, make in table.items():
        found[name] = lambda K, k, seed, make=make: (
            make(seed).set_params(n_clusters=k, affinity="precomputed").fit(K).labels_
        )
        if name in ("Kernel Conv. NMF", "Kernel k-Means", "Unnorm. Spec.", "Norm. Spec"):
            found[f"Hier. {name}"] = lambda K, k, seed, make=make: (
                DivisiveClustering(make(seed), k, affinity="precomputed").fit(K).labels_
            )
    return found
