"""A map of the graph, as shapes of an inline picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from symclust._types import Array
from symclust.plotting import GraphMap, graph_map
from symclust.report._clusters import clipped
from symclust.report._reading import Overview

SIDE = 1000  # units of the picture
MOST_NODES = 2000
MOST_TITLES = 2000


@dataclass(frozen=True)
class Map:
    """Shapes by cluster, links, where numbers stand, and what the picture shows in words."""

    groups: list[dict[str, Any]]
    links: list[dict[str, Any]]
    numbers: list[dict[str, Any]]
    is_aggregated: bool
    caption: str
    alt: str
    height: int
    opacity: float  # of links


def map_of(clustering: Overview) -> Map | None:
    """Lay out a sparse graph; None for other similarities, whose links are all pairs."""
    A = clustering.similarity
    if not issparse(A) or clustering.n_samples < 3 or A.nnz == 0:
        return None
    found = graph_map(A, clustering.labels, max_nodes=MOST_NODES)
    if len(found.positions) == 0:
        return None
    places = SIDE * found.positions * (1, -1) + (0, SIDE)
    low = float((places[:, 1] - SIDE * found.radii).min())
    places[:, 1] -= low - 10
    height = int((places[:, 1] + SIDE * found.radii).max()) + 10
    return Map(
        groups=_groups(clustering, found, places),
        links=_links(found, places),
        numbers=_numbers(clustering, found, places),
        is_aggregated=found.is_aggregated,
        caption=_caption(clustering, found),
        alt=f"Map of {clustering.nouns.samples(clustering.n_samples)} by {clustering.nouns.cluster}.",
        height=max(height, 200),
        # Thousands of lines would cover the colours of the dots: the more there are, the paler each is.
        opacity=0.3
        if found.is_aggregated
        else round(float(np.clip(6 / np.sqrt(len(found.edges) + 1), 0.08, 0.45)), 2),
    )


def _groups(clustering: Overview, found: GraphMap, places: Array) -> list[dict[str, Any]]:
    """The circles of each cluster together, so that its colour is written once."""
    return [
        {
            "cluster": c,
            "colour": clustering.colour_of(c),
            "marks": [
                {
                    "x": f"{places[i, 0]:.0f}",
                    "y": f"{places[i, 1]:.0f}",
                    "r": f"{SIDE * found.radii[i]:.1f}",
                    "title": _title(clustering, found, i),
                }
                for i in np.flatnonzero(found.clusters == c).tolist()
            ],
        }
        for c in np.unique(found.clusters).tolist()
    ]


def _title(clustering: Overview, found: GraphMap, i: int) -> str:
    cluster = int(found.clusters[i])
    if found.is_aggregated:
        size = clustering.nouns.samples(int(found.nodes[i]))
        return f"{clustering.nouns.cluster} {clipped(clustering.name_of_cluster(cluster), 40)}: {size}"
    return clipped(clustering.name_of(int(found.nodes[i])), 60)


def _links(found: GraphMap, places: Array) -> list[dict[str, Any]]:
    """Lines: one path for all if they are alike, one for each width of those between discs."""
    if len(found.edges) == 0:
        return []
    widths = np.rint(2 + 22 * found.weights) if found.is_aggregated else np.full(len(found.edges), 1.0)
    pieces = [
        f"M{places[i, 0]:.0f} {places[i, 1]:.0f}L{places[j, 0]:.0f} {places[j, 1]:.0f}"
        for i, j in found.edges.tolist()
    ]
    return [
        {"width": int(width), "path": "".join(p for p, w in zip(pieces, widths, strict=True) if w == width)}
        for width in np.unique(widths)
    ]


def _numbers(clustering: Overview, found: GraphMap, places: Array) -> list[dict[str, Any]]:
    """The name of each cluster at the member nearest to its middle."""
    numbers = []
    for c in np.unique(found.clusters[found.clusters >= 0]).tolist():
        own = places[found.clusters == c]
        x, y = own[np.argmin(np.linalg.norm(own - np.median(own, axis=0), axis=1))]
        name = clipped(clustering.name_of_cluster(c), 16)
        # Long names near the edge would be cut off.
        anchor = "middle" if len(name) < 4 or 150 < x < SIDE - 150 else "start" if x <= 150 else "end"
        numbers.append({"x": f"{x:.0f}", "y": f"{y:.0f}", "name": name, "anchor": anchor})
    return numbers


def _caption(clustering: Overview, found: GraphMap) -> str:
    noun = clustering.nouns.cluster
    if found.is_aggregated:
        shown = len(found.clusters)
        which = (
            f"The {shown} largest {noun}s" if shown < np.count_nonzero(clustering.sizes) else f"The {noun}s"
        )
        return (
            f"{which} as discs: the area goes with the number of {clustering.nouns.sample}s, the width of a "
            "line with the weight of all links between two. Neighbours on the map have many links."
        )
    hidden = f" The {found.n_hidden:,} weakest links are not drawn." if found.n_hidden else ""
    lines = "lines are the links" if clustering.is_network else "lines join those that are similar"
    return (
        f"Every dot is a {clustering.nouns.sample}; {lines}, and pull them together. Point at a dot to read "
        f"its name.{hidden}"
    )
