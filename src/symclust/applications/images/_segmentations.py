"""Four ways from the similarities of pixels to many segmentations (Kuang, Yun and Park 2015, section 8)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from symclust._threads import cached_property
from symclust._types import Array
from symclust.estimators import HierarchicalSymNMF, SymmetricFactorization, SymNMF
from symclust.exceptions import DegenerateWarning, InterruptedWarning, NotConvergedWarning
from symclust.graphs import normalized_cut, unit_rows
from symclust.operators import as_operator

FLOOR = 1e-3  # where pixels start outside the cluster of their basin, relative to the largest entry
DESCENT = 50  # iterations on pixels: the start is good already


@dataclass(eq=False)
class PixelGraph:
    """Similarities of pixels and of the groups that are kept together, the basins."""

    groups: Array  # the basin of each pixel that is there, from 0 on
    plain: sparse.csr_array  # sums of the similarities of the pixels of two basins
    normalized: sparse.csr_array  # the same for the normalised cut
    E: sparse.csr_array | None = None  # the similarities of pixels that may leave the cluster of their basin
    allowed: Array | None = None  # basins × clusters, where hints forbid some

    @property
    def by_pixel(self) -> bool:
        """Whether pixels may leave the cluster of their basin."""
        return self.E is not None

    @cached_property
    def A(self) -> Any:
        """The normalised cut of E."""
        return normalized_cut(self.E)

    @cached_property
    def sizes(self) -> Array:
        """Pixels of each basin."""
        return np.bincount(self.groups).astype(np.float64)

    @cached_property
    def C(self) -> sparse.csr_array:
        """M^-1/2 SᵀAS M^-1/2 with S the indicator of basins and M their sizes.

        For H = S M^-1/2 G, equal rows within each basin, ‖A − HHᵀ‖² is ‖C − GGᵀ‖² and a constant: factoring C
        is factoring A under the constraint that basins stay whole, at the cost of a few hundred rows. Basins
        have similarities with those around them: some entries in a hundred are not zero.
        """
        roots = 1 / np.sqrt(self.sizes)
        C = self.normalized.copy()
        C.data *= np.repeat(roots, np.diff(C.indptr)) * roots[C.indices]
        return C

    def spread(self, labels: Array) -> Array:
        """The labels of pixels, given those of what is clustered: pixels or basins."""
        return labels if self.by_pixel else labels[self.groups]

    def contracted(self, labels: Array) -> sparse.csr_array:
        """The sums of similarities between clusters of pixels or basins: (26)."""
        E = self.plain if self.E is None else self.E
        indicator = sparse.csr_array((np.ones(len(labels), E.dtype), labels, np.arange(len(labels) + 1)))
        W = sparse.csr_array(indicator.T @ (E @ indicator), dtype=np.float64)
        return sparse.csr_array((W + W.T) / 2)


def segmentations(
    graph: PixelGraph, way: str, least: int, most: int, n_superpixels: int, seed: int
) -> Iterator[Array]:
    """Yield the segmentations of one way, as labels of the pixels that are there."""
    most = min(most, len(graph.sizes))
    if most < 2:  # one basin: nothing divides the image
        yield np.zeros(len(graph.groups), dtype=np.intp)
    elif way in ("clusters", "spectral_clusters"):
        yield from _flat(graph, way, min(least, most), most, seed)
    else:
        yield from _nested(graph, way, most, n_superpixels, seed)


WAYS = ("clusters", "embedding", "spectral_clusters", "spectral_embedding")


# Clusters ---------------------------------------------------------------------------------------------------


def _flat(graph: PixelGraph, way: str, least: int, most: int, seed: int) -> Iterator[Array]:
    """SymNMF-Clust and Spectral-NJW: k = 2, ..., 16 clusters, each a segmentation."""
    vectors = None if way == "clusters" else leading_vectors(graph, most)
    for k in range(least, most + 1):
        if vectors is None:
            yield clusters_of_factor(graph, factor(graph, k, seed))
        else:
            yield graph.spread(_k_means(graph, unit_rows(vectors[:, :k]), k, seed))


def factor(graph: PixelGraph, k: int, seed: int) -> Array:
    """H of SymNMF with k columns: one row per pixel, or per basin."""
    G = _factor_of_basins(graph, k, seed)
    H = G / np.sqrt(graph.sizes)[:, None]
    if not graph.by_pixel:
        return H
    start = H[graph.groups]
    start += FLOOR * start.max()
    model = SymNMF(
        k, affinity="precomputed", init=start.astype(np.float32), max_iter=DESCENT, random_state=seed
    )
    return _fitted(model, graph.A).membership_


def _factor_of_basins(graph: PixelGraph, k: int, seed: int) -> Array:
    if graph.allowed is None:
        model: Any = SymNMF(k, affinity="precomputed", init="merge", random_state=seed)
        return np.asarray(_fitted(model, graph.C).membership_)
    allowed = np.ones((len(graph.sizes), k), dtype=bool)
    n_seeds = graph.allowed.shape[1]
    seeded = ~graph.allowed.all(axis=1)
    allowed[:, :n_seeds] = graph.allowed
    allowed[np.ix_(seeded, np.arange(k) >= n_seeds)] = False
    start = SymNMF(k, affinity="precomputed", init="merge", random_state=seed)
    H = np.asarray(_fitted(start, graph.C).membership_)
    model = SymmetricFactorization(
        k, constraint=Pattern(allowed), affinity="precomputed", solver="projected_gradient",
        init=np.where(allowed, H + FLOOR * H.max(), 0), random_state=seed,
    )  # fmt: skip
    return np.asarray(_fitted(model, graph.C).membership_)


class Pattern:
    """H ≥ 0 with zeros if hints forbid a cluster, as a constraint: all it needs is a projection."""

    def __init__(self, allowed: Array) -> None:
        self.allowed = allowed

    def project(self, H: Array) -> Array:
        """The nearest point: negative entries and those that are not allowed become zero."""
        return np.where(self.allowed, np.maximum(H, 0), 0).astype(H.dtype)


def clusters_of_factor(graph: PixelGraph, H: Array) -> Array:
    """The cluster of each pixel: that of the largest entry of its row."""
    return graph.spread(np.asarray(H).argmax(axis=1))


def _fitted(model: Any, A: Any) -> Any:
    """Fit; a pixel without similarities, or limits that are ours, need no warnings here.

    Ctrl-C, after which a model keeps what it has, is raised: it is meant for all that follows, too.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)
        warnings.simplefilter("ignore", NotConvergedWarning)
        warnings.simplefilter("error", InterruptedWarning)
        try:
            return model.fit(A)
        except InterruptedWarning as interrupted:
            raise KeyboardInterrupt from interrupted


# Embeddings -------------------------------------------------------------------------------------------------


def leading_vectors(graph: PixelGraph, k: int) -> Array:
    """The k leading eigenvectors of A, or of its contraction, one row per pixel or basin."""
    _, vectors = as_operator(graph.A if graph.by_pixel else graph.C).eigsh(k)
    return vectors if graph.by_pixel else vectors / np.sqrt(graph.sizes)[:, None]


def _k_means(graph: PixelGraph, rows: Array, k: int, seed: int) -> Array:
    """The cluster of each row by k-means; it counts as many pixels as it stands for."""
    weights = None if graph.by_pixel else graph.sizes
    k = min(k, len(np.unique(rows, axis=0)))
    return KMeans(k, n_init=5, random_state=seed).fit(rows, sample_weight=weights).labels_


def _nested(graph: PixelGraph, way: str, most: int, n_superpixels: int, seed: int) -> Iterator[Array]:
    """SymNMF-Embed and Spectral-Embed: superpixels by k-means, contracted, and split one after the other."""
    rows = factor(graph, most, seed) if way == "embedding" else leading_vectors(graph, most)
    superpixels = _k_means(graph, unit_rows(rows), n_superpixels, seed)
    _, superpixels = np.unique(superpixels, return_inverse=True)
    n = int(superpixels.max()) + 1
    if n < 2:
        yield graph.spread(superpixels)
        return
    W = graph.contracted(superpixels)  # (26)
    tree = _fitted(HierarchicalSymNMF(n, refine=None, affinity="precomputed", random_state=seed), W).tree_
    for k in range(2, len(tree.leaves()) + 1):
        yield graph.spread(tree.cut(k)[superpixels])
