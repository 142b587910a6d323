"""A map of the samples by their similarities, as data that the page draws."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.preprocessing import normalize

from symclust._text import showable
from symclust._types import Array
from symclust.graphs import nearest_neighbors
from symclust.plotting import GraphMap, graph_map
from symclust.report._clusters import clipped
from symclust.report._reading import Overview

SIDE = 4095  # steps of places on the page
MOST_DOTS = 150_000
MOST_DENSE, NEIGHBOURS = 4000, 6  # samples of an array of all similarities, and links of each that are drawn
MOST_LINES = 6000
MOST_LETTERS = 1_500_000  # of all names: what a page may hold
MOST_RANKED = 5000  # dots whose names have an order


@dataclass(frozen=True)
class Map:
    """Places, links, names and clusters of dots, and what the picture shows in words."""

    data: dict[str, Any]
    caption: str
    alt: str


def map_of(clustering: Overview) -> Map | None:
    """Lay out the graph of similarities, or of memberships; None if there is none, or if all are alike."""
    A = _graph(clustering.similarity)
    if A is None and clustering.similarity is None and clustering.n_samples <= MOST_DOTS:
        A = _of_memberships(clustering.membership)
    if A is None or clustering.n_samples < 3 or A.nnz == 0:
        return None
    found = graph_map(A, clustering.labels, max_nodes=MOST_DOTS, max_edges=MOST_LINES)
    if len(found.positions) == 0:
        return None
    has_lines = found.is_aggregated or found.n_hidden < 4 * MOST_LINES
    shown = np.unique(found.clusters)
    data = {
        "x": _packed(SIDE * found.positions[:, 0]),
        "y": _packed(SIDE * (1 - found.positions[:, 1])),
        "group": _packed(np.searchsorted(shown, found.clusters)),
        "radius": _packed(SIDE * found.radii),
        "lines": _packed(found.edges.ravel(), np.uint32) if has_lines else "",
        "widths": _packed(np.rint(1 + 11 * found.weights)) if found.is_aggregated else "",
        "groups": [_group(clustering, found, c) for c in shown.tolist()],
        "names": _names(clustering, found),
        "order": _order(A, found),
        "noun": clustering.nouns.sample,
    }
    alt = f"Map of {clustering.nouns.samples(clustering.n_samples)} by {clustering.nouns.cluster}."
    return Map(data, _caption(clustering, found, has_lines), alt)


def _graph(A: Any) -> csr_array | None:
    """The similarities as a sparse graph; of an array of all pairs the largest of each sample."""
    if issparse(A):
        return csr_array(A)
    if not isinstance(A, np.ndarray) or len(A) > MOST_DENSE:
        return None
    n, q = len(A), min(NEIGHBOURS + 1, len(A))
    nearest = np.argpartition(-A, q - 1, axis=1)[:, :q]
    rows = np.repeat(np.arange(n), q)
    graph = csr_array((A[rows, nearest.ravel()], (rows, nearest.ravel())), (n, n))
    return csr_array(graph.maximum(graph.T))


def _of_memberships(H: Any) -> csr_array | None:
    """The samples with the most similar shares in clusters, of factors that have no similarities."""
    if H is None or H.shape[1] < 2:
        return None
    shares = normalize(H.toarray() if issparse(H) else H)
    if len(np.unique(shares, axis=0)) <= H.shape[1]:
        return None
    return csr_array(nearest_neighbors(shares, min(NEIGHBOURS, len(shares) - 1)))


def _order(A: csr_array, found: GraphMap) -> str:
    """The dots whose names are to be read first: those with most links."""
    if found.is_aggregated or len(found.nodes) > MOST_RANKED:
        return ""
    return _packed(np.argsort(-np.asarray(A.sum(axis=1)).ravel()[found.nodes], kind="stable"), np.uint32)


def _packed(values: Array, dtype: Any = np.uint16) -> str:
    return b64encode(
        np.asarray(np.rint(values), dtype=dtype).astype(f"<u{np.dtype(dtype).itemsize}")
    ).decode()


def _group(clustering: Overview, found: GraphMap, c: int) -> dict[str, Any]:
    """The label of a cluster, its colour, and the dot at which the label stands: nearest to the middle."""
    dots = np.flatnonzero(found.clusters == c)
    places = found.positions[dots]
    middle = np.argmin(np.linalg.norm(places - np.median(places, axis=0), axis=1))
    size = int(found.nodes[dots].sum()) if found.is_aggregated else len(dots)
    return {
        "label": showable(clipped(clustering.label_of(c), 40)) if c >= 0 else "",
        "colour": clustering.colour_of(c),
        "at": int(dots[middle]),
        "size": size,
    }


def _names(clustering: Overview, found: GraphMap) -> list[str]:
    if found.is_aggregated or clustering.names is None:
        return []
    names = [showable(clipped(clustering.name_of(int(i)), 60)) for i in found.nodes]
    return names if sum(map(len, names)) <= MOST_LETTERS else []


def _caption(clustering: Overview, found: GraphMap, has_lines: bool) -> str:
    noun = clustering.nouns.cluster
    if found.is_aggregated:
        shown = len(found.clusters)
        every = shown == np.count_nonzero(clustering.sizes)
        which = f"The {noun}s" if every else f"The {shown} largest {noun}s"
        return (
            f"{which} as discs: the area goes with the number of {clustering.nouns.sample}s, the width of a "
            "line with the weight of all links between two. Neighbours on the map have many links."
        )
    hidden = f" The {found.n_hidden:,} weakest links are not drawn." if found.n_hidden and has_lines else ""
    lines = "lines are the links" if clustering.is_network else "lines join those that are similar"
    near = lines if has_lines else "those that are similar are close to each other"
    return f"Every dot is a {clustering.nouns.sample}; {near}. Point at a dot to read about it.{hidden}"
