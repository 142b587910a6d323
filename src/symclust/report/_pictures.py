"""The page's pictures, as addresses that need no second file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

from symclust._types import Array
from symclust.exceptions import InputError
from symclust.plotting import (
    picture,
    plot_consensus,
    plot_history,
    plot_selection,
    read_segmentation,
    segment_means,
    with_borders,
)

LARGEST_SIDE = 480  # pixels of an image on the page


@dataclass(frozen=True)
class Themed:
    """A picture in two versions and the words for those who cannot see it."""

    light: str
    dark: str
    alt: str


def history_picture(model: Any) -> Themed | None:
    """Draw the run along its iterations; None if there is nothing to follow."""
    history: Any = getattr(model, "history_", ())
    if len(history) < 2:
        return None
    curves = [
        f"{name} from {history[name][0]:.4g} to {history[name][-1]:.4g}"
        for name in ("objective", "stationarity")
        if (history[name] > 0).any()
    ]
    alt = f"A run of {history['iteration'][-1]} iterations: {', '.join(curves)}."
    return _themed(lambda ax: plot_history(model, ax), (5.2, 2.7), "svg", alt)


def selection_picture(selection: Any) -> Themed:
    """Draw the scores of the numbers of clusters that were tried."""
    tried = np.asarray(selection.candidates)
    alt = (
        f"Scores of {tried.min()} to {tried.max()} clusters by the method {selection.method}; "
        f"{selection.n_clusters} were chosen."
    )
    return _themed(lambda ax: plot_selection(selection, ax), (5.2, 3.4), "svg", alt)


def consensus_picture(consensus: Any, k: int, draw: Callable[[Any], Any] | None = None) -> Themed:
    """Draw how often two samples were together in repeated runs; `draw` is a model's own way to do so."""
    draw = draw or (lambda ax: plot_consensus(consensus, k, ax))
    alt = f"Consensus matrix of {len(consensus.samples):,} samples, with frames around {k} clusters."
    return _themed(draw, (5.2, 4.4), "png", alt)


def _themed(draw: Callable[[Any], Any], size: tuple[float, float], file_format: str, alt: str) -> Themed:
    mime = {"png": "image/png", "svg": "image/svg+xml"}[file_format]
    light, dark = (picture(draw, size, dark=dark, file_format=file_format) for dark in (False, True))
    return Themed(_data_uri(light, mime), _data_uri(dark, mime), alt)


def as_pixels(images: Any, n: int) -> Array:
    """Scale grey images (n × height × width, larger is brighter) to bytes, all by the same factor."""
    values = np.asarray(images)
    if values.ndim != 3 or len(values) != n or values.dtype.kind not in "biuf":
        raise InputError(
            f"images has shape {values.shape} and type {values.dtype}; expected numbers of shape "
            f"({n}, height, width), one grey image per sample."
        )
    values = values.astype(np.float64)
    low, high = values.min(), values.max()
    return np.asarray(np.round(255 * (values - low) / (high - low or 1.0)), dtype=np.uint8)


def grey_picture(pixels: Array) -> str:
    """Rows × columns of brightness (0 black, 255 white) as an address."""
    return _data_uri(_png(pixels), "image/png")


def colour_picture(pixels: Array) -> str:
    """Rows × columns × 3 of red, green and blue between 0 and 1 as an address."""
    return _data_uri(_png(np.rint(255 * np.clip(pixels, 0, 1)).astype(np.uint8)), "image/png")


@dataclass(frozen=True)
class Segments:
    """An image, and the same with its segments in their mean colours and with lines between them."""

    image: str
    means: str
    borders: str
    width: int
    height: int


def segment_pictures(answer: Any) -> Segments:
    """Draw an image and its segments, large ones reduced to what a page can hold."""
    pixels, segments = read_segmentation(answer)
    step = -(-max(segments.shape) // LARGEST_SIDE)
    pixels, segments = pixels[::step, ::step], segments[::step, ::step]
    means = segment_means(pixels, segments)
    borders = with_borders(pixels, segments, LARGEST_SIDE)
    height, width = segments.shape
    return Segments(colour_picture(pixels), colour_picture(means), colour_picture(borders), width, height)


def _png(pixels: Array) -> bytes:
    """Bytes of shape (rows, columns) or (rows, columns, 3) as a PNG file."""
    from PIL import Image  # which matplotlib writes with, too

    file = BytesIO()
    Image.fromarray(pixels).save(file, "png", optimize=True)
    return file.getvalue()


def _data_uri(content: bytes, mime: str) -> str:
    """Content as an address."""
    return f"data:{mime};base64,{b64encode(content).decode('ascii')}"
