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
DENSE_BASINS = 3000  # graphs of so many basins are factored as dense matrices


@dataclass(eq=False)
class PixelGraph:
    """The similarities of pixels that are there, and the groups that are kept together."""

    E: sparse.csr_array  # similarities of the pixels that are there
    groups: Array  # the basin of each of these pixels, from 0 on
    by_pixel: bool  # whether pixels may leave the cluster of their basin
    allowed: Array | None = None  # basins × clusters, where hints forbid some

    @cached_property
    def A(self) -> sparse.csr_array:
        """The normalised cut of E."""
        return normalized_cut(self.E)

    @cached_property
    def sizes(self) -> Array:
        """Pixels of each basin."""
        return np.bincount(self.groups).astype(np.float64)

    @cached_property
    def indicator(self) -> sparse.csr_array:
        """Pixels × basins."""
        n = len(self.groups)
        ones = np.ones(n, dtype=np.float32)
        return sparse.csr_array((ones, self.groups, np.arange(n + 1)), shape=(n, len(self.sizes)))

    def contracted(self, A: sparse.csr_array) -> sparse.csr_array:
        """The sums of similarities between basins: (26)."""
        return self.indicator.T @ (A @ self.indicator)

    @cached_property
    def C(self) -> Any:
        """M^-1/2 SᵀAS M^-1/2 with S the indicator of basins and M their sizes.

        For H = S M^-1/2 G, equal rows within each basin, ‖A − HHᵀ‖² is ‖C − GGᵀ‖² and a constant: factoring C
        is factoring A under the constraint that basins stay whole, at the cost of a few hundred rows.
        """
        roots = 1 / np.sqrt(self.sizes)
        B = sparse.csr_array(self.contracted(self.A), dtype=np.float64)
        B.data *= np.repeat(roots, np.diff(B.indptr)) * roots[B.indices]
        B = (B + B.T) / 2
        return B.toarray() if B.shape[0] <= DENSE_BASINS else sparse.csr_array(B)


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
            yield _k_means(graph, unit_rows(vectors[:, :k]), k, seed)


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
    labels = np.asarray(H).argmax(axis=1)
    return labels if graph.by_pixel else labels[graph.groups]


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
    """The cluster of each pixel by k-means on rows; each counts as many pixels as it stands for."""
    weights = None if graph.by_pixel else graph.sizes
    k = min(k, len(np.unique(rows, axis=0)))
    labels = KMeans(k, n_init=5, random_state=seed).fit(rows, sample_weight=weights).labels_
    return labels if graph.by_pixel else labels[graph.groups]


def _nested(graph: PixelGraph, way: str, most: int, n_superpixels: int, seed: int) -> Iterator[Array]:
    """SymNMF-Embed and Spectral-Embed: superpixels by k-means, contracted, and split one after the other."""
    rows = factor(graph, most, seed) if way == "embedding" else leading_vectors(graph, most)
    superpixels = _k_means(graph, unit_rows(rows), n_superpixels, seed)
    _, superpixels = np.unique(superpixels, return_inverse=True)
    n = int(superpixels.max()) + 1
    if n < 2:
        yield superpixels
        return
    whole = PixelGraph(graph.E, superpixels, by_pixel=False)
    W = sparse.csr_array(whole.contracted(graph.E), dtype=np.float64)  # (26)
    W = sparse.csr_array((W + W.T) / 2)
    tree = _fitted(HierarchicalSymNMF(n, refine=None, affinity="precomputed", random_state=seed), W).tree_
    for k in range(2, len(tree.leaves()) + 1):
        yield tree.cut(k)[superpixels]
