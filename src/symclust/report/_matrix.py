"""The ordered similarity matrix as data for the page: a picture of tiles, and where the clusters begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from symclust._text import showable
from symclust._types import Array
from symclust.plotting import binned_similarity, block_sums
from symclust.report._clusters import clipped
from symclust.report._pictures import grey_picture
from symclust.report._reading import Overview

TILES = 640  # on a side: 400 kB before compression
POWER = 0.6  # lifts small similarities, as in `plot_similarity`
MOST_MEANS = 60  # clusters between which mean similarities are told


@dataclass(frozen=True)
class Matrix:
    """A picture in which black is most similar, what it shows in words, and what the page needs to zoom."""

    picture: str
    alt: str
    data: dict[str, Any]
    n_tiles: int


def matrix_of(clustering: Overview) -> Matrix | None:
    """The similarities ordered by cluster, or None if there are none."""
    A, n = clustering.similarity, clustering.n_samples
    if A is None or n < 2:
        return None
    order = _order(clustering)
    tiles = binned_similarity(A, order, TILES)
    levels, top, is_signed = _levels(tiles)
    found = np.flatnonzero(clustering.sizes)
    outside = int(np.count_nonzero(clustering.labels < 0))
    ends = np.cumsum(clustering.sizes[found])
    data = {
        "n": n,
        "signed": is_signed,
        "top": top,
        "power": POWER,
        "starts": [
            *(ends - clustering.sizes[found]).tolist(),
            *([int(ends[-1])] if outside and len(ends) else []),
        ],
        "clusters": [*found.tolist(), *([-1] if outside else [])],
        "names": [_shown(clustering.label_of(c)) for c in found.tolist()] + ["none"] * bool(outside),
        "colours": [clustering.colour_of(c) for c in found.tolist()]
        + [clustering.colour_of(-1)] * bool(outside),
        "samples": [_shown(clustering.name_of(i)) for i in order.tolist()] if n <= TILES else [],
        "means": _means(clustering, found),
        "noun": clustering.nouns.cluster,
        "what": "mean weight per pair" if clustering.is_network else "mean similarity",
    }
    kind = "Adjacency" if clustering.is_network else "Similarity"
    alt = (
        f"{kind} matrix of {clustering.nouns.samples(n)} ordered by {clustering.nouns.cluster}; dark squares "
        f"on the diagonal are the {clustering.nouns.cluster}s, {len(found):,} in all."
    )
    return Matrix(grey_picture(255 - levels), alt, data, len(tiles))


def _shown(name: str) -> str:
    return showable(clipped(name, 40))


def _order(clustering: Overview) -> Array:
    """Sort samples by cluster, and within each from the core to those that could be elsewhere; none last."""
    labels = np.where(clustering.labels < 0, clustering.n_clusters, clustering.labels)
    belonging = clustering.belonging
    doubt = np.zeros(len(labels)) if belonging is None else belonging.rivalry
    return np.lexsort((doubt, labels))


def _levels(tiles: Array) -> tuple[Array, float, bool]:
    """Tiles as bytes, the similarity of the highest byte, and whether 128 stands for zero."""
    sizes = np.abs(tiles[tiles != 0])
    # A few very similar pairs would leave all others pale: full colour starts at the 99th percentile.
    top = float(np.quantile(sizes, 0.99)) if sizes.size else 1.0
    scaled = np.clip(np.abs(tiles) / (top or 1.0), 0, 1) ** POWER
    if tiles.min() < 0:
        return (128 + np.sign(tiles) * np.rint(127 * scaled)).astype(np.uint8), top, True
    levels = np.rint(255 * scaled)
    levels[(tiles > 0) & (levels < 1)] = 1  # what is there can be seen at a closer look
    return levels.astype(np.uint8), top, False


def _means(clustering: Overview, found: Array) -> list[list[float]]:
    """The mean similarity of all pairs of two clusters, if there are few clusters.

    A node of a network is no pair with itself.
    """
    if not 0 < len(found) <= MOST_MEANS:
        return []
    place = np.full(clustering.n_clusters + 1, -1)
    place[found] = np.arange(len(found))
    columns = place[clustering.labels]
    inside = np.flatnonzero(columns >= 0)
    Z = csr_array((np.ones(len(inside)), (inside, columns[inside])), (clustering.n_samples, len(found)))
    sizes = clustering.sizes[found].astype(np.float64)
    pairs = np.outer(sizes, sizes) - (np.diag(sizes) if clustering.is_network else 0)
    means = np.asarray(block_sums(clustering.similarity, Z), dtype=np.float64) / np.maximum(pairs, 1)
    return [[float(f"{value:.3g}") for value in row] for row in means]
