"""The rows of the report's table of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symclust.exceptions import InputError
from symclust.report._png import data_uri, grey_png

__all__ = ["ClusterRow", "as_pixels", "cluster_rows", "typical_members"]


@dataclass(frozen=True)
class ClusterRow:
    """What the page says about one cluster."""

    name: str
    size: int
    share: float
    width: float  # of its bar, in percent of the largest cluster's
    mostly: str = ""
    pictures: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def typical_members(
    membership: NDArray[np.floating], labels: NDArray[np.intp], c: int, count: int
) -> NDArray[np.intp]:
    """Return the samples of cluster `c` with the largest membership in it, largest first."""
    members = np.flatnonzero(labels == c)
    strongest = np.argsort(-membership[members, c], kind="stable")
    return members[strongest[:count]]


def cluster_rows(
    model: Any,
    count: int,
    labels_true: NDArray[np.generic] | None,
    pixels: NDArray[np.uint8] | None,
    names: Sequence[object] | None,
) -> list[ClusterRow]:
    """One row for each cluster, in the order of the membership's columns."""
    labels, H = np.asarray(model.labels_), np.asarray(model.membership_)
    sizes = np.bincount(labels, minlength=H.shape[1])
    rows = []
    for c, size in enumerate(sizes.tolist()):
        typical = typical_members(H, labels, c, count)
        rows.append(
            ClusterRow(
                name=str(c),
                size=size,
                share=size / len(labels),
                width=100 * size / sizes.max(),
                mostly="" if labels_true is None else _mostly(labels_true[labels == c]),
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


def _mostly(classes: NDArray[np.generic]) -> str:
    if not len(classes):
        return "(empty)"
    names, counts = np.unique(classes, return_counts=True)
    best = counts.argmax()
    return f"{names[best]} ({counts[best] / len(classes):.0%})"
