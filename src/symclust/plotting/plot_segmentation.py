"""An image with the borders of its segments, or with each segment in its mean colour."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symclust._types import Array, Image
from symclust.exceptions import InputError, OptionError
from symclust.metrics import boundary_map
from symclust.plotting._style import Axes, fresh_axes, matplotlib_module
from symclust.validation import check_number

KINDS = ("overlay", "mean", "borders")
LINE = (1.0, 0.87, 0.0)  # yellow


def plot_segmentation(
    image: Image,
    labels: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    kind: str = "overlay",
    strength: float = 0.6,
) -> Axes:
    """Draw an image with its segments: their borders, their mean colours, or both.

    Parameters
    ----------
    image : array-like of shape (rows, columns) or (rows, columns, 3)
        Brightness or red, green and blue between 0 and 1; or an object with ``image`` and ``labels``.
    labels : array-like of shape (rows, columns), optional
        Segment of each pixel.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    kind : {"overlay", "mean", "borders"}
        "overlay" draws borders over the image mixed with the mean colours, "mean" the mean colours alone,
        "borders" borders over the image as it is.
    strength : float between 0 and 1
        The share of the mean colours in an overlay.

    Examples
    --------
    >>> from symclust.plotting import plot_segmentation
    >>> plot_segmentation([[0.1, 0.2, 0.9], [0.1, 0.3, 0.8]], [[0, 0, 1], [0, 0, 1]]).get_xlabel()
    '2 segments'
    """
    if kind not in KINDS:
        raise OptionError(f"kind={kind!r} is not known. Choose one of {', '.join(map(repr, KINDS))}.")
    check_number("strength", strength, least=0, most=1)
    pixels, segments = read_segmentation(image, labels)
    ax = fresh_axes(ax, 5.2, 5.2 * pixels.shape[0] / max(pixels.shape[1], 1) + 0.4)
    mixed = {"overlay": strength, "mean": 1.0, "borders": 0.0}[kind]
    shown = (1 - mixed) * pixels + mixed * segment_means(pixels, segments)
    ax.imshow(shown, interpolation="nearest")
    if kind != "mean":
        _draw_borders(ax, segments)
    count = len(np.unique(segments))
    ax.set(xticks=[], yticks=[], xlabel=f"{count:,} segment{'s' * (count != 1)}")
    ax.spines[:].set_visible(False)
    return ax


def read_segmentation(image: Any, labels: Any = None) -> tuple[Array, Array]:
    """Pixels of shape (rows, columns, 3) between 0 and 1, and the segment of each."""
    if labels is None and hasattr(image, "image") and hasattr(image, "labels"):
        image, labels = image.image, image.labels
    if labels is None:
        raise InputError("plot_segmentation needs labels: the segment of each pixel.")
    values, segments = np.asarray(image), np.asarray(labels)
    is_image = values.ndim == 2 or (values.ndim == 3 and values.shape[2] == 3)
    if not is_image or values.dtype.kind not in "biuf" or segments.shape != values.shape[:2]:
        raise InputError(
            f"The image has shape {values.shape} and the labels {segments.shape}; expected (rows, columns) "
            "or (rows, columns, 3), and one label per pixel."
        )
    values = (
        values / 255.0 if values.dtype.kind in "iu" and values.max(initial=0) > 1 else values.astype(float)
    )
    if values.ndim == 2:
        values = np.repeat(values[:, :, np.newaxis], 3, axis=2)
    return np.clip(np.nan_to_num(values), 0, 1), segments


def segment_means(pixels: Array, segments: Array) -> Array:
    """An image in which each segment has its mean colour."""
    _, codes = np.unique(segments, return_inverse=True)
    codes = codes.ravel()
    counts = np.bincount(codes)
    flat = pixels.reshape(-1, pixels.shape[2])
    means = np.column_stack([np.bincount(codes, channel) / counts for channel in flat.T])
    return means[codes].reshape(pixels.shape)


def with_borders(pixels: Array, segments: Array, least_side: int = 480) -> Array:
    """An image with thin lines between segments, small images enlarged so that the lines are thin."""
    times = max(1, -(-least_side // max(segments.shape)))
    shown, large = (array.repeat(times, axis=0).repeat(times, axis=1) for array in (pixels, segments))
    shown[boundary_map(large)] = LINE
    return shown


def _draw_borders(ax: Axes, segments: Array) -> None:
    """Draw lines between the pixels of different segments; yellow on a dark seam is seen on any image."""
    i, j = np.nonzero(segments[:, :-1] != segments[:, 1:])
    upright = np.stack([np.column_stack([j + 0.5, i - 0.5]), np.column_stack([j + 0.5, i + 0.5])], axis=1)
    i, j = np.nonzero(segments[:-1] != segments[1:])
    level = np.stack([np.column_stack([j - 0.5, i + 0.5]), np.column_stack([j + 0.5, i + 0.5])], axis=1)
    for colour, width in (("black", 1.8), (LINE, 0.9)):
        lines = matplotlib_module("collections").LineCollection(
            np.concatenate([upright, level]), colors=[colour], linewidths=width, capstyle="projecting"
        )
        ax.add_collection(lines)
