"""Changes in an image: brightness, colour and texture on the two sides of each pixel.

The gradients of Martin, Fowlkes and Malik (2004): around each pixel a disk is cut in half in eight
directions, and the histograms of the two halves are compared. A logistic model joins the differences of the
four histograms into the probability of a boundary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import fft, ndimage

from symclust import _kernels
from symclust._optional import need
from symclust._types import Array
from symclust.graphs._image import Picture

ORIENTATIONS = 8
BINS = 25
TEXTONS = 32
TEXTON_SAMPLE = 4000
# Range of a and b in Lab that natural colours reach.
LOWEST_COLOUR, HIGHEST_COLOUR = -73.0, 95.0


class Cue(NamedTuple):
    """A gradient: radius of its disk, width of the bins' smoothing, length of smoothing along edges, weight.

    Radii and lengths are in pixels of an image of 240 × 160. The weights and `INTERCEPT` are those of a
    logistic regression on the boundaries that people drew in twenty images of the Berkeley data
    (`python -m benchmarks.figures edge_weights`).
    """

    radius: float
    smoothing: float
    length: float
    weight: float


BRIGHTNESS = Cue(3.5, 2.5, 2.0, 3.94)
COLOUR = (Cue(6.0, 2.0, 2.0, 2.6), Cue(6.0, 2.0, 2.0, 3.65))
TEXTURE = Cue(8.0, 0.0, 3.0, 3.87)
INTERCEPT = -7.01


class Barriers(NamedTuple):
    """Barriers between pixels that touch, and the basins that they enclose.

    `across` is between a pixel and the one right of it, `down` between it and the one below: 0 inside a
    basin, and the larger edge strength of the two pixels where they are in different ones. `basins` counts
    from 0; pixels that are not there have −1.
    """

    across: Array
    down: Array
    basins: Array


def pixel_edges(picture: Picture) -> Array:
    """Return the probability that each pixel lies on a boundary of each orientation: 8 × rows × columns.

    Orientation o is that of a line at an angle of o · π/8, counterclockwise from the rows.
    """
    channels = lab_channels(picture)
    cues = (BRIGHTNESS, *COLOUR)[: channels.shape[2]]
    strength = np.full((ORIENTATIONS, *picture.shape), INTERCEPT, dtype=np.float32)
    for cue, channel in zip(cues, np.moveaxis(channels, 2, 0), strict=True):
        strength += cue.weight * _gradient(_binned(channel), BINS, cue, picture.valid)
    textons = _textons(channels[:, :, 0], picture.valid)
    strength += TEXTURE.weight * _gradient(textons, TEXTONS, TEXTURE, picture.valid)
    return np.where(picture.valid, 1 / (1 + np.exp(-strength)), 0).astype(np.float32)


def lab_channels(picture: Picture) -> Array:
    """Return brightness, and for colours a and b of Lab, each from 0 to 1.

    Of a stack of bands, the principal components take their places: the first is the brightness.
    """
    if picture.is_stack:
        return _principal_components(picture)
    if picture.channels.shape[2] == 1:
        return _lab(np.repeat(picture.channels, 3, axis=2))[:, :, :1]
    return _lab(picture.channels)


def _lab(channels: Array) -> Array:
    lab = need("skimage.color", "images", "Dividing an image").rgb2lab(channels)
    lab[:, :, 0] /= 100
    lab[:, :, 1:] = (lab[:, :, 1:] - LOWEST_COLOUR) / (HIGHEST_COLOUR - LOWEST_COLOUR)
    return np.clip(lab, 0, 1).astype(np.float32)


def _principal_components(picture: Picture) -> Array:
    """Return up to three components of the bands, scaled together so that the first fills 0 to 1."""
    X = picture.channels[picture.valid].astype(np.float64)
    X -= X.mean(axis=0)
    deviation = X.std(axis=0)
    X /= np.where(deviation > 0, deviation, 1)
    _, vectors = np.linalg.eigh(X.T @ X)
    scores = X @ vectors[:, ::-1][:, :3]
    low, high = np.percentile(scores[:, 0], [1, 99])
    filled = np.zeros((*picture.shape, scores.shape[1]), dtype=np.float32)
    filled[picture.valid] = np.clip(0.5 + (scores - (low + high) / 2) / max(high - low, 1e-12), 0, 1)
    return filled


def _binned(channel: Array) -> Array:
    return np.minimum((channel * BINS).astype(np.int32), BINS - 1)


def _gradient(bins: Array, n_bins: int, cue: Cue, valid: Array) -> Array:
    """Return the root of half the χ² difference of the two half disks: orientations × rows × columns."""
    offsets, wedges = _disk(cue.radius)
    found = np.empty((ORIENTATIONS, *bins.shape), dtype=np.float32)
    known = np.where(valid, bins, -1).astype(np.int32)
    _kernels.half_disk_differences(known, offsets, wedges, _bell(cue.smoothing), n_bins, found)
    return np.sqrt(_smooth_along(found, cue.length))


def _disk(radius: float) -> tuple[Array, Array]:
    """Return the pixels around one, and which of the 2 · 8 wedges of the disk each lies in."""
    reach = int(np.ceil(radius))
    y, x = (grid.ravel() for grid in np.mgrid[-reach : reach + 1, -reach : reach + 1])
    inside = (y**2 + x**2 <= radius**2) & ((y != 0) | (x != 0))
    y, x = y[inside], x[inside]
    angle = np.mod(np.arctan2(-y, x) + 1e-9, 2 * np.pi)
    wedges = np.minimum((angle / (np.pi / ORIENTATIONS)).astype(np.int32), 2 * ORIENTATIONS - 1)
    return np.column_stack([y, x]).astype(np.int32), wedges


def _bell(width: float) -> Array:
    """Return a Gaussian that sums to one, as an array with its middle in the middle."""
    reach = int(np.ceil(2.5 * width))
    weights = np.exp(-((np.arange(-reach, reach + 1) / max(width, 1e-9)) ** 2) / 2)
    return (weights / weights.sum()).astype(np.float32)


def _rotated(reach: int, angle: float) -> tuple[Array, Array]:
    """Return the coordinates along and across a direction, of the pixels of a square."""
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    return x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)


def _smooth_along(gradients: Array, length: float) -> Array:
    """Average each gradient along its own direction, where an edge goes on, and hardly across it."""
    smooth = np.empty_like(gradients)
    for o, gradient in enumerate(gradients):
        u, v = _rotated(int(np.ceil(2 * length)), o * np.pi / ORIENTATIONS)
        weights = np.exp(-((u / length) ** 2) / 2 - (v / 0.7) ** 2 / 2).astype(np.float32)
        smooth[o] = _filtered(gradient, weights / weights.sum())
    return smooth


def _filtered(image: Array, weights: Array) -> Array:
    """Return an image convolved with a filter, mirrored at its frame.

    Mirrored by NumPy: SciPy's own frames are wrong where the filter is much larger than the image.
    """
    reach = weights.shape[0] // 2
    inside = (slice(reach, reach + image.shape[0]), slice(reach, reach + image.shape[1]))
    return ndimage.convolve(np.pad(image, reach, mode="symmetric"), weights, mode="constant")[inside]


def _textons(brightness: Array, valid: Array) -> Array:
    """Return which of 32 kinds of texture each pixel shows: clusters of the responses of 26 filters."""
    from sklearn.cluster import KMeans

    if not valid.all():  # filters see the nearest pixel that is there instead of the gap
        nearest = ndimage.distance_transform_edt(~valid, return_distances=False, return_indices=True)
        brightness = brightness[tuple(nearest)]
    responses = _filter_responses(brightness)
    rng = np.random.RandomState(0)  # a property of the image, not of a run: no random state of the user's
    sample = responses[rng.permutation(len(responses))[:TEXTON_SAMPLE]]
    n_textons = min(TEXTONS, len(np.unique(sample, axis=0)))
    model = KMeans(n_textons, n_init=1, max_iter=15, random_state=0).fit(sample)
    return model.predict(responses).reshape(brightness.shape).astype(np.int32)


def _filter_responses(brightness: Array) -> Array:
    """Return the responses of bar and edge filters in six directions and of spots, at two sizes."""
    responses = []
    for size in (1.0, 2.0):
        filters = []
        for direction in range(6):
            u, v = _rotated(int(np.ceil(6 * size)), direction * np.pi / 6)
            bell = np.exp(-((u / (2 * size)) ** 2) / 2 - (v / size) ** 2 / 2)
            for shape in (bell * (v**2 / size**2 - 1), bell * v):
                weights = shape - shape.mean()
                filters.append((weights / np.abs(weights).sum()).astype(np.float32))
        responses += [*_filtered_by_all(brightness, np.array(filters))]
        responses.append(size**2 * ndimage.gaussian_laplace(brightness, size))
    R = np.stack([response.ravel() for response in responses], axis=1)
    # Weber's law: contrast counts by its logarithm, and steps of 8-bit images do not count at all.
    contrast = np.linalg.norm(R, axis=1, keepdims=True)
    return R * (np.log1p(np.maximum(contrast - 0.005, 0) / 0.03) / np.maximum(contrast, 1e-9))


def _filtered_by_all(image: Array, filters: Array) -> Array:
    """Return an image, mirrored at its frame, convolved with each of some filters in one transform."""
    reach = filters.shape[1] // 2
    mirrored = np.pad(image, reach, mode="symmetric")
    shape = [fft.next_fast_len(size, real=True) for size in mirrored.shape]
    spectra = fft.rfft2(mirrored, shape) * fft.rfft2(filters, shape)
    rows, columns = image.shape
    return fft.irfft2(spectra, shape)[:, 2 * reach : 2 * reach + rows, 2 * reach : 2 * reach + columns]


def find_barriers(edges: Array, valid: Array) -> Barriers:
    """Return the barriers between touching pixels: ridges of the edge strength, found by a watershed.

    A ridge runs between pixels, not on them. Pixels on a ridge would be unlike everything around them, and
    end up as regions of their own. Where the strength is known by orientation, a ridge gets that of its own
    direction (Arbeláez, Maire, Fowlkes and Malik 2011): without it, a ridge across a thin stripe is as strong
    as the sides of the stripe, and limbs and rims fall to pieces.
    """
    watershed = need("skimage.segmentation", "images", "Dividing an image").watershed
    oriented = edges[None] if edges.ndim == 2 else edges
    relief = ndimage.gaussian_filter(oriented.max(axis=0), 0.5)
    basins = watershed(relief, mask=valid).astype(np.int32) - 1
    ridges = _Ridges.between(basins)
    strength = ridges.strengths(oriented)
    across, down = np.zeros((2, *valid.shape), dtype=np.float32)
    n_across = ridges.n_across
    across[ridges.y[:n_across], ridges.x[:n_across]] = strength[:n_across]
    down[ridges.y[n_across:], ridges.x[n_across:]] = strength[n_across:]
    across[:, :-1][(basins[:, :-1] < 0) | (basins[:, 1:] < 0)] = 1  # no way leads through what is not there
    down[:-1][(basins[:-1] < 0) | (basins[1:] < 0)] = 1
    return Barriers(across, down, basins)


class _Ridges(NamedTuple):
    """Pairs of touching pixels in different basins: side by side, then one above the other.

    `y` and `x` are those of the pixel on the left or above, `arc` the number of the two basins' border.
    """

    y: Array
    x: Array
    n_across: int
    arc: Array

    @classmethod
    def between(cls, basins: Array) -> _Ridges:
        pairs = [(basins[:, :-1], basins[:, 1:]), (basins[:-1], basins[1:])]
        places = [np.nonzero((a != b) & (a >= 0) & (b >= 0)) for a, b in pairs]
        sides = [np.sort([a[at], b[at]], axis=0) for (a, b), at in zip(pairs, places, strict=True)]
        low, high = np.concatenate(sides, axis=1).astype(np.int64)
        _, arc = np.unique(low * (int(basins.max()) + 1) + high, return_inverse=True)
        y, x = (np.concatenate([at[i] for at in places]) for i in range(2))
        return cls(y, x, len(places[0][0]), arc)

    def strengths(self, oriented: Array) -> Array:
        """Return the strength of the edge at each place: the larger one of its two pixels."""
        next_y, next_x = self.y.copy(), self.x.copy()
        next_x[: self.n_across] += 1
        next_y[self.n_across :] += 1
        here = np.maximum(oriented[:, self.y, self.x], oriented[:, next_y, next_x])
        if len(oriented) == 1:
            return here[0]
        along = np.round(self._directions() / (np.pi / ORIENTATIONS)).astype(int)
        steps = np.arange(-1, 2)[:, None]  # a direction is known to half a step or so
        return np.take_along_axis(here, (along + steps) % ORIENTATIONS, axis=0).max(axis=0)

    def _directions(self) -> Array:
        """Return the angle of the border that each place belongs to: the axis along which its ends spread."""
        half = np.where(np.arange(len(self.y)) < self.n_across, 0.5, 0.0)
        ends_y = np.concatenate([self.y - half, self.y + half]) + np.tile(0.5 - half, 2)
        ends_x = np.concatenate([self.x - (0.5 - half), self.x + (0.5 - half)]) + np.tile(half, 2)
        arc = np.tile(self.arc, 2)
        count = np.maximum(np.bincount(arc), 1)
        up = -(ends_y - (np.bincount(arc, ends_y) / count)[arc])
        right = ends_x - (np.bincount(arc, ends_x) / count)[arc]
        spread = np.bincount(arc, right**2 - up**2), 2 * np.bincount(arc, right * up)
        return (0.5 * np.arctan2(spread[1], spread[0]) % np.pi)[self.arc]
