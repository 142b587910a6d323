"""Clusters of samples that are small pictures: the mean picture of each, and where it is bright or dark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np
from scipy import sparse

from symclust._types import Array
from symclust.describe._members import indicator
from symclust.describe.columns import Columns, Weights
from symclust.describe.description import Trait
from symclust.describe.evidence import Evidence

__all__ = ["Pixels"]

PARTS = [f"{row} {column}".strip() for row in ("top", "", "bottom") for column in ("left", "", "right")]
SMALLEST = 8  # pixels on a side
LOOKED_AT = 300  # samples that tell whether columns are pixels
NEAR = 0.75  # difference of neighbouring pixels, as a share of that of pixels half a picture apart
NUMBERED = re.compile(r"\D*?(\d+)(?:[_x,](\d+))?")


@dataclass(frozen=True, eq=False)
class Pixels(Evidence):
    """Samples whose columns are the pixels of a picture, row by row."""

    images: Array  # samples or clusters × rows × columns
    are_clusters: bool = False
    key = "Brightness of parts of the picture inside, and in brackets of all others."

    @classmethod
    def within(cls, found: Evidence | None) -> Pixels | None:
        """The pictures that columns hold; None if they do not.

        In a picture a pixel is like the one below it, although a row of others lies between them. That tells
        pictures from spectra, series and embeddings with a square number of columns.
        """
        if not isinstance(found, Columns | Weights):
            return None
        are_clusters = isinstance(found, Weights)
        X = found.components if isinstance(found, Weights) else found.X
        places = None if sparse.issparse(X) else _places([name for name, _ in found.columns])
        if places is None:
            return None
        some = _images(X[:: max(1, len(X) // LOOKED_AT)], places)
        rows, columns = some.shape[1] // 2, some.shape[2] // 2
        across, down = _step(some, 2, 1), _step(some, 1, 1)
        far_across, far_down = _step(some, 2, columns), _step(some, 1, rows)
        is_picture = across < NEAR * far_across and down < NEAR * min(far_down, far_across)
        return cls(_images(X, places), are_clusters) if is_picture else None

    def pictures(self, labels: Array, n_clusters: int) -> Array:
        """The mean picture of each cluster."""
        if self.are_clusters:
            return self.images
        sums = indicator(labels, n_clusters).T @ self.images.reshape(len(self.images), -1)
        sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
        return (sums / np.maximum(sizes, 1)[:, np.newaxis]).reshape(n_clusters, *self.images.shape[1:])

    def traits(self, labels: Array, n_clusters: int) -> Sequence[Sequence[Trait]]:
        """The ninths of the picture in which each cluster differs most from all others."""
        bands = [np.array_split(np.arange(size), 3) for size in self.images.shape[1:]]
        values = np.stack(
            [self.images[:, r][:, :, c].mean(axis=(1, 2)) for r in bands[0] for c in bands[1]], 1
        )
        own = np.arange(n_clusters) if self.are_clusters else labels
        parts: list[tuple[str, str | None]] = [(part or "middle", None) for part in PARTS]
        return Columns(values, parts, are_brightness=True).traits(own, n_clusters)


def _images(X: Array, places: Array) -> Array:
    """Rows as pictures; a view if all pixels are there in their order."""
    shape = places.max(axis=0) + 1
    if np.array_equal(places @ [shape[1], 1], np.arange(shape.prod())):
        return np.asarray(X).reshape(-1, *shape)
    images = np.zeros((len(X), *shape), dtype=X.dtype)
    images[:, places[:, 0], places[:, 1]] = X
    return images


def _step(images: Array, axis: int, length: int) -> float:
    """The mean difference of pixels that are so far apart."""
    n = images.shape[axis]
    ahead, behind = (np.take(images, range(*part), axis) for part in ((length, n), (0, n - length)))
    return float(np.abs(np.subtract(ahead, behind, dtype=np.float64)).mean())


def _places(names: Sequence[str]) -> Array | None:
    """Row and column of each pixel, by numbers in the names of the columns; None if they are no pixels'."""
    found = [NUMBERED.fullmatch(name) for name in names]
    if not all(found) or not found:
        return None
    numbers = np.array([[int(part or -1) for part in one.groups()] for one in found if one])
    if (numbers[:, 1] < 0).all():
        numbers = numbers[:, 0] - numbers[:, 0].min()
        side = isqrt(int(numbers.max()) + 1)
        if side**2 != numbers.max() + 1:
            return None
        numbers = np.column_stack(np.divmod(numbers, side))
    sides = numbers.max(axis=0) + 1
    is_full = sides.min() >= SMALLEST and sides.prod() <= 4 * len(numbers) and numbers.min() >= 0
    return numbers if is_full and len(np.unique(numbers, axis=0)) == len(numbers) else None
