"""Similarity of pixels: what stands between them, within a disk."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import ndimage, sparse
from sklearn.utils import check_random_state

from symclust import _kernels
from symclust._types import Array, Image, RandomState
from symclust.exceptions import InputError
from symclust.graphs._cues import Barriers, find_barriers, lab_channels, pixel_edges
from symclust.graphs._image import Picture, as_picture
from symclust.graphs._neighbors import index_type
from symclust.validation import check_memory, check_number

__all__ = ["edge_strength", "pixel_affinity"]

ENTRY = 8  # bytes of a similarity: four for its column, four for its value


def edge_strength(image: Image, *, mask: Image = None, channels: str = "auto") -> Array:
    """Estimate how likely each pixel of an image lies on a boundary, from what is on its two sides.

    Histograms of brightness, colour (a and b of Lab) and texture in the two halves of a disk around the pixel
    are compared in eight directions (Martin, Fowlkes and Malik 2004), and a logistic model joins the
    differences.

    Parameters
    ----------
    image, mask, channels
        As in `pixel_affinity`.

    Returns
    -------
    ndarray of float32 of shape (rows, columns)
        From 0 to 1; 0 at pixels that are masked.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.graphs import edge_strength
    >>> image = np.zeros((12, 16))
    >>> image[:, 8:] = 1
    >>> edges = edge_strength(image)
    >>> bool(edges[6, 8] > 2 * edges[6, 2])
    True
    """
    return pixel_edges(as_picture(image, mask, channels)).max(axis=0)


def pixel_affinity(
    image: Image,
    radius: float = 20.0,
    *,
    edge_scale: float = 0.05,
    colour_scale: float | None = None,
    density: float = 1.0,
    edges: Image = None,
    mask: Image = None,
    channels: str = "auto",
    random_state: RandomState = 0,
) -> sparse.csr_array:
    r"""Compare each pixel of an image with those in a disk around it (Kuang, Yun and Park 2015, section 8).

    .. math::
        e_{ij} = \exp\Big(-\frac{1}{\sigma} \max_{p \in \overline{ij}} E(p)
                          - \frac{1}{\tau^2} \|c_i - c_j\|^2\Big)

    with E the strength of the strongest edge that the line from i to j crosses (an intervening contour) and c
    the colours of the two pixels in Lab. E joins brightness, colour and texture: see `edge_strength`. Edges
    run between pixels, along the ridges of E, so that no pixel lies on one.

    Parameters
    ----------
    image : array of shape (rows, columns) or (rows, columns, n_channels), or PIL image
        Grey, RGB or RGBA, of 8 or 16 bits or float; any other number of channels is a stack of bands. Pixels
        that are NaN, hidden by a masked array or fully transparent have no similarities.
    radius : float, default=20.0
        Radius of the disk in pixels. An image of 240 × 160 pixels has 44 million similarities with 20.
    edge_scale : float, default=0.05
        σ: an edge of strength 0.05 lowers a similarity by e. Small values make weak edges count.
    colour_scale : float, default=None
        τ, in units of Lab (0 to 100 in brightness); of a stack, in hundredths of its range. None leaves the
        colours themselves out: they count through the edges already.
    density : float, default=1.0
        Which part of the disk to compare with: 1 is all; below, pixels farther away than ``density * radius``
        are left out at random with the inverse of their distance, the same ones around all pixels. 0.1 has
        a fifth or so of the similarities, for large images.
    edges : array-like of shape (rows, columns), default=None
        Edge strength from 0 to 1, to be used instead of our own.
    mask : array-like of bool of shape (rows, columns), default=None
        True at pixels to be left out.
    channels : {"auto", "stack"}, default="auto"
        "auto" reads three channels as RGB, and the last of two or four as opacity; "stack" reads all as
        bands.
    random_state : int or RandomState, default=0
        Which pixels are left out where `density` is below 1.

    Returns
    -------
    A : csr_array of float32 of shape (n_pixels, n_pixels)
        Symmetric to the bit, with zero diagonal. Pixel (y, x) is row ``y * columns + x``.

    Notes
    -----
    Memory is 8 bytes per similarity, of which each pixel has πr²: 352 MB for the default radius at
    240 × 160, and 10 kB per pixel in general. It is checked before it is taken. `density=0.1` needs about
    a fifth.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.graphs import pixel_affinity
    >>> image = np.zeros((12, 16))
    >>> image[:, 8:] = 1  # dark on the left, bright on the right
    >>> A = pixel_affinity(image, radius=3)
    >>> A.shape, float(A[0, 1]) > 0.9, float(A[7, 8]) < 0.1
    ((192, 192), True, True)
    """
    picture = as_picture(image, mask, channels)
    strength = pixel_edges(picture) if edges is None else _read_edges(edges, picture)
    return compare_pixels(
        picture,
        find_barriers(strength, picture.valid),
        radius,
        edge_scale,
        colour_scale,
        density,
        random_state,
    )


def compare_pixels(
    picture: Picture,
    barriers: Barriers,
    radius: float,
    edge_scale: float,
    colour_scale: float | None = None,
    density: float = 1.0,
    random_state: Any = 0,
) -> sparse.csr_array:
    """Return the similarities of pixels with these barriers between them: `pixel_affinity` after its cues."""
    given = _compared(picture, barriers, radius, edge_scale, colour_scale, density, random_state)
    n, offsets = picture.valid.size, given["offsets"][given["order"]]
    check_memory(
        ENTRY * _most_similarities(picture.shape, offsets),
        f"The similarities of {n:,} pixels within a radius of {radius:g}",
        "Give a smaller radius or density, or a smaller image.",
    )
    indptr = _row_ends(picture.valid, offsets)
    size = int(indptr[-1])
    indices, values = np.empty(size, dtype=indptr.dtype), np.empty(size, dtype=np.float32)
    _kernels.pixel_affinity(**given, indptr=indptr, indices=indices, values=values)
    return sparse.csr_array((values, indices, indptr), shape=(n, n))


def compare_basins(
    picture: Picture, barriers: Barriers, radius: float, edge_scale: float, density: float = 1.0
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the sums of the pixels' similarities between basins, and of those of their normalised cut.

    No similarity of pixels is stored.
    """
    given = _compared(picture, barriers, radius, edge_scale, None, density)
    first, second, *sums = _kernels.group_affinity(**given, groups=barriers.basins)
    n = int(barriers.basins.max()) + 1
    plain, normalized = (sparse.csr_array((values, (first, second)), shape=(n, n)) for values in sums)
    return plain + plain.T, normalized + normalized.T  # each pair of pixels was met once


def _compared(
    picture: Picture,
    barriers: Barriers,
    radius: float,
    edge_scale: float,
    colour_scale: float | None = None,
    density: float = 1.0,
    random_state: Any = 0,
) -> dict[str, Any]:
    """Return what the kernels need to know of how pixels are compared."""
    check_number("radius", radius, least=1, most=10_000)
    check_number("edge_scale", edge_scale, least=0, exclusive=True)
    check_number("density", density, least=0, most=1, exclusive=True)
    if colour_scale is not None:
        check_number("colour_scale", colour_scale, least=0, exclusive=True)
    rays = _rays(min(float(radius), float(np.hypot(*picture.shape))))
    return {
        "across": barriers.across, "down": barriers.down, "features": _colours(picture, colour_scale),
        "valid": picture.valid, "offsets": rays.offsets, "before": rays.before,
        "order": _kept(rays, density * radius, check_random_state(random_state)),
        "sharpness": 1 / float(edge_scale),
    }  # fmt: skip


class Rays(NamedTuple):
    """The pixels below another, or right of it, within a disk, and the one before each on the way there."""

    offsets: Array
    before: Array


def _rays(radius: float) -> Rays:
    """Return the lower half of a disk, from the inside out.

    The pixel before (y, x) is nearest to the line at one step less; so the way to each is that to another and
    one step more, and what stands on all ways is known after one step per pixel.
    """
    reach = int(radius)
    y, x = (grid.ravel() for grid in np.mgrid[0 : reach + 1, -reach : reach + 1])
    inside = (y**2 + x**2 <= radius**2) & ((y > 0) | (x > 0))
    y, x = y[inside], x[inside]
    steps = np.maximum(y, np.abs(x))
    order = np.lexsort((x, y, steps))
    y, x, steps = y[order], x[order], steps[order]
    places = np.full((reach + 1, 2 * reach + 1), -1, dtype=np.int32)
    places[y, x + reach] = np.arange(len(y))
    before_y = np.floor(y * (steps - 1) / steps + 0.5).astype(int)
    before_x = (np.sign(x) * np.floor(np.abs(x) * (steps - 1) / steps + 0.5)).astype(int)
    before = np.where(steps > 1, places[before_y, before_x + reach], -1)
    return Rays(np.column_stack([y, x]).astype(np.int32), before.astype(np.int32))


def _kept(rays: Rays, whole: float, rng: np.random.RandomState) -> Array:
    """Return which pixels of the half disk to compare with, in the order of their numbers."""
    y, x = rays.offsets.T
    chance = whole / np.hypot(y, x)
    kept = np.flatnonzero((rng.uniform(size=len(y)) < chance) | (np.hypot(y, x) < 2))
    return kept[np.lexsort((x[kept], y[kept]))].astype(np.int32)


def _most_similarities(shape: tuple[int, int], offsets: Array) -> int:
    """Return how many similarities there are where no pixel is masked."""
    rows, columns = shape
    y, x = np.abs(offsets.astype(np.int64)).T
    return int(2 * np.sum(np.maximum(rows - y, 0) * np.maximum(columns - x, 0)))


def _row_ends(valid: Array, offsets: Array) -> Array:
    """Return the row pointers of the graph: how many pixels each has around it."""
    rows, columns = valid.shape
    counts = np.zeros(valid.shape, dtype=np.int64)
    for y, x in offsets:
        above, below = slice(0, max(rows - y, 0)), slice(y, None)
        left, right = (
            slice(max(-x, 0), max(columns - max(x, 0), 0)),
            slice(max(x, 0), max(columns + min(x, 0), 0)),
        )
        both = valid[above, left] & valid[below, right]
        counts[above, left] += both
        counts[below, right] += both
    ends = np.concatenate([[0], np.cumsum(counts.ravel())])
    return ends.astype(index_type(valid.size, int(ends[-1])))


def _colours(picture: Picture, scale: float | None) -> Array:
    """Return what pixels are compared by besides edges: slightly smoothed colours in units of `scale`."""
    if scale is None:
        return np.zeros((*picture.shape, 0), dtype=np.float32)
    smooth = ndimage.gaussian_filter(lab_channels(picture), (1, 1, 0))
    return np.ascontiguousarray(100 * smooth / scale, dtype=np.float32)


def _read_edges(edges: Any, picture: Picture) -> Array:
    array = np.asarray(edges, dtype=np.float32)
    if array.shape != picture.shape or not np.isfinite(array).all() or array.min() < 0:
        raise InputError(
            f"edges has shape {array.shape}; expected the strength of edges, numbers of at least 0, at each "
            f"pixel of an image of shape {picture.shape}."
        )
    return np.where(picture.valid, array, 0)
