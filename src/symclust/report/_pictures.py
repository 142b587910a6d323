"""The page's pictures, as addresses that need no second file."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symclust._types import Array
from symclust.exceptions import InputError
from symclust.plotting import picture, plot_history, plot_similarity

__all__ = ["as_pixels", "grey_picture", "history_picture", "similarity_picture"]


@dataclass(frozen=True)
class Themed:
    """A picture in two versions and the words for those who cannot see it."""

    light: str
    dark: str
    alt: str


def similarity_picture(model: Any, n_clusters: int) -> Themed | None:
    """Draw the similarity matrix ordered by cluster; None for a model without one."""
    A, labels = getattr(model, "affinity_matrix_", None), model.labels_
    if A is None:
        return None
    alt = (
        f"Similarity matrix of {A.shape[0]:,} samples ordered by cluster; frames on the diagonal mark the "
        f"clusters, {n_clusters:,} in all."
    )
    return _themed(lambda ax: plot_similarity(A, labels, ax), (5.2, 5.2), "png", alt)


def history_picture(model: Any) -> Themed | None:
    """Draw the run along its iterations; None where there is nothing to follow."""
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
    """Return rows × columns of brightness (0 black, 255 white) as an address."""
    return _data_uri(_grey_png(pixels), "image/png")


def _grey_png(pixels: Array) -> bytes:
    """Encode brightness as 8-bit greyscale PNG: the format is short enough to need no library."""
    height, width = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    # Every scan line starts with its filter; 0 is "as it is".
    lines = np.hstack([np.zeros((height, 1), np.uint8), pixels]).tobytes()
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _data_uri(content: bytes, mime: str) -> str:
    """Return content as an address."""
    return f"data:{mime};base64,{b64encode(content).decode('ascii')}"
