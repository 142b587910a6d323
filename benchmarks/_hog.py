"""Histograms of oriented gradients (Dalal and Triggs 2005) of small images."""

from __future__ import annotations

import numpy as np

BINS, BLOCK, CLIPPED = 9, 2, 0.2


def hog(images: np.ndarray, cells: int = 4) -> np.ndarray:
    """Return histograms on a grid of cells × cells, normalised in blocks of 2 × 2 cells, of square images."""
    n, size = images.shape[:2]
    down, right = np.gradient(images, axis=(1, 2))
    place = np.arctan2(down, right) % np.pi * BINS / np.pi
    lower = np.floor(place)
    # A pixel belongs to the nearest cells in proportion, as a gradient does to the nearest directions.
    centre = (np.arange(size) + 0.5) * cells / size - 0.5
    near = np.maximum(0, 1 - np.abs(centre[:, None] - np.arange(cells)))
    histogram = np.empty((n, cells, cells, BINS))
    for b in range(BINS):
        share = np.where(lower % BINS == b, 1 - (place - lower), 0)
        share += np.where((lower + 1) % BINS == b, place - lower, 0)
        histogram[..., b] = np.einsum(
            "nij,ia,jb->nab", np.hypot(down, right) * share, near, near, optimize=True
        )
    return np.concatenate([_block(histogram, i, j) for i, j in np.ndindex(cells - 1, cells - 1)], axis=1)


def _block(histogram: np.ndarray, i: int, j: int) -> np.ndarray:
    block = histogram[:, i : i + BLOCK, j : j + BLOCK].reshape(len(histogram), -1)
    block = np.minimum(block / np.sqrt((block**2).sum(axis=1, keepdims=True) + 1e-2), CLIPPED)
    return block / np.sqrt((block**2).sum(axis=1, keepdims=True) + 1e-6)
