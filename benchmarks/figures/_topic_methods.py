"""The methods of thesis 5.6.2 with one face: documents in, partitions and topics out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import LatentDirichletAllocation

from benchmarks._tools import timed
from symclust import NMF, HierarchicalNMF, SphericalKMeans

TERMS = 20  # of a topic, for its coherence
LDA_PASSES = 2  # few: it takes longer than all others together


@dataclass
class Partition:
    """What a method gives for one number of clusters; `seconds` is for all the work up to it."""

    n_clusters: int
    seconds: float
    labels: np.ndarray
    topics: list[np.ndarray]


def top_terms(components: Any) -> list[np.ndarray]:
    components = np.asarray(components)
    ranked = np.argsort(-components, axis=1, kind="stable")[:, :TERMS]
    return [row[weights[row] > 0] for row, weights in zip(ranked, components, strict=True)]


def tree(split: str, **options: Any) -> Callable[..., Iterator[Partition]]:
    """Grown anew for each number, for its time; the partitions are the snapshots of the largest one."""

    def run(X: Any, counts: Any, numbers: Sequence[int], seed: int) -> Iterator[Partition]:
        for k in numbers:
            model = HierarchicalNMF(k, split=split, random_state=seed, **options)
            seconds, _ = timed(lambda model=model: model.fit(X))
            leaves = model.tree_.leaves()
            topics = [np.asarray(leaf.data["terms"][:TERMS]) for leaf in leaves]
            yield Partition(len(leaves), seconds, model.labels_, topics)

    return run


def flattened(**options: Any) -> Callable[..., Iterator[Partition]]:
    def run(X: Any, counts: Any, numbers: Sequence[int], seed: int) -> Iterator[Partition]:
        for k in numbers:
            model = HierarchicalNMF(k, random_state=seed, **options)
            seconds, flat = timed(lambda model=model: model.fit(X).flatten())
            yield Partition(len(flat.components_), seconds, flat.labels_, top_terms(flat.components_))

    return run


def flat_nmf(X: Any, counts: Any, numbers: Sequence[int], seed: int) -> Iterator[Partition]:
    for k in numbers:
        model = NMF(k, init="random", random_state=seed)  # block pivoting from random numbers, as in 5.6.2
        seconds, _ = timed(lambda model=model: model.fit(X))
        yield Partition(k, seconds, model.labels_, top_terms(model.components_))


def k_means(X: Any, counts: Any, numbers: Sequence[int], seed: int) -> Iterator[Partition]:
    for k in numbers:
        model = KMeans(k, n_init=1, random_state=seed)
        seconds, _ = timed(lambda model=model: model.fit(X))
        yield Partition(k, seconds, model.labels_, top_terms(model.cluster_centers_))


def spherical(X: Any, counts: Any, numbers: Sequence[int], seed: int) -> Iterator[Partition]:
    for k in numbers:
        model = SphericalKMeans(k, n_init=1, random_state=seed)
        seconds, _ = timed(lambda model=model: model.fit(X))
        yield Partition(k, seconds, model.labels_, top_terms(model.components_))


def lda(X: Any, counts: Any, numbers: Sequence[int], seed: int) -> Iterator[Partition]:
    for k in numbers:
        model = LatentDirichletAllocation(
            k,
            learning_method="online",
            batch_size=512,
            max_iter=LDA_PASSES,
            max_doc_update_iter=10,
            random_state=seed,
        )
        seconds, W = timed(lambda model=model: model.fit_transform(counts))
        yield Partition(k, seconds, W.argmax(axis=1), top_terms(model.components_))


AS_PRINTED = {"criterion": "mndcg", "outlier_ratio": 9.0}

METHODS: dict[str, Callable[..., Iterator[Partition]]] = {
    "r2-nmf-hier": tree("rank_two", **AS_PRINTED),
    "r2-nmf-hier, flattened": flattened(**AS_PRINTED),
    "r2-nmf-hier, energy": tree("rank_two"),
    "r2-nmf-hier, energy, flattened": flattened(),
    "nmf-flat": flat_nmf,
    "kmeans-hier": tree("k_means", outlier_trials=5, **AS_PRINTED),
    "kmeans-flat": k_means,
    "spherical-hier": tree("spherical_k_means", **AS_PRINTED),
    "spherical-flat": spherical,
    "lda": lda,
}
