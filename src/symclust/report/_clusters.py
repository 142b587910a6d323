"""The rows of the report's table of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symclust.exceptions import InputError
from symclust.report._png import data_uri, grey_png
from symclust.report._strength import Strength

__all__ = ["ClusterRow", "as_pixels", "cluster_rows", "mostly", "top_names"]


@dataclass(frozen=True)
class ClusterRow:
    """What the page says about one cluster."""

    name: str
    size: int
    share: float
    width: float  # of its bar, in percent of the largest cluster's
    mostly: str = ""
    terms: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def cluster_rows(
    labels: NDArray[np.intp],
    strength: Strength,
    count: int,
    labels_true: NDArray[np.generic] | None,
    terms: list[list[str]],
    pixels: NDArray[np.uint8] | None,
    names: Sequence[object] | None,
) -> list[ClusterRow]:
    """One row for each cluster; samples in none, labelled -1, have no row."""
    sizes = np.bincount(labels[labels >= 0], minlength=strength.n_clusters)
    rows = []
    for c, size in enumerate(sizes.tolist()):
        members = np.flatnonzero(labels == c)
        typical = strength.strongest(members, c, count)
        rows.append(
            ClusterRow(
                name=str(c),
                size=size,
                share=size / len(labels),
                width=100 * size / max(1, sizes.max()),
                mostly="" if labels_true is None else mostly(labels_true[members]),
                terms=terms[c] if terms else [],
                pictures=[]
                if pixels is None
                else [data_uri(grey_png(pixels[i]), "image/png") for i in typical],
                names=[] if names is None else [str(names[i]) for i in typical],
            )
        )
    return rows


def as_pixels(images: Any, n: int) -> NDArray[np.uint8]:
    """Scale grey images (n × height × width, larger is brighter) to bytes, all by the same factor."""
    values = np.asarray(images, dtype=np.float64)
    if values.ndim != 3 or len(values) != n:
        raise InputError(
            f"images has shape {values.shape}; expected ({n}, height, width), one grey image a sample."
        )
    low, high = values.min(), values.max()
    return np.asarray(np.round(255 * (values - low) / (high - low or 1.0)), dtype=np.uint8)


def mostly(classes: NDArray[np.generic]) -> str:
    """Return the most frequent class and its share."""
    if not len(classes):
        return "(empty)"
    names, counts = np.unique(classes, return_counts=True)
    best = counts.argmax()
    return f"{names[best]} ({counts[best] / len(classes):.0%})"


def top_names(weights: NDArray[np.floating], names: Sequence[object], count: int) -> list[str]:
    """Return the names of the largest positive weights, largest first."""
    order = np.argsort(-weights, kind="stable")[:count]
    return [str(names[j]) for j in order if weights[j] > 0]
