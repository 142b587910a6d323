"""Images in any form, and their channels as pixels are compared by them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symclust._types import Array
from symclust.exceptions import InputError, InputTypeError
from symclust.validation import check_known, is_a

MOST_CHANNELS = 4096
KINDS = "an array or masked array of rows × columns or rows × columns × channels, or a PIL image"
READINGS = ("auto", "stack")


@dataclass(frozen=True, eq=False)
class Picture:
    """An image with channels from 0 to 1, and which of its pixels are there.

    `channels` (rows × columns × n_channels, float32) has one channel for grey images, three for colours
    (RGB), and any other number for a stack of bands; pixels that are not there are 0. `valid` is False if a
    pixel is masked, transparent or NaN; `is_stack` is true for bands of any meaning, instead of grey or
    colours. `notes` lists the assumptions made about the image.
    """

    channels: Array
    valid: Array
    is_stack: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.valid.shape[0], self.valid.shape[1]

    @property
    def is_constant(self) -> bool:
        """Whether all pixels that are there are equal."""
        pixels = self.channels[self.valid]
        return len(pixels) == 0 or bool(np.all(pixels == pixels[0]))

    def as_colours(self) -> Array:
        """Return an RGB image for people to look at; a stack shows its first, middle and last band."""
        n = self.channels.shape[2]
        bands = (0, 0, 0) if n == 1 else (0, 1, 2) if n == 3 else (n - 1, n // 2, 0)
        return self.channels[:, :, bands]


def as_picture(image: Any, mask: Any = None, channels: str = "auto") -> Picture:
    """Return any image that can be read as a `Picture`; `mask` is True at pixels to be left out.

    The last of two or four channels is opacity, and three are red, green and blue, unless `channels` says
    that they are a stack of bands.
    """
    check_known("channels", channels, READINGS)
    if isinstance(image, Picture):
        return image
    array, hidden = _as_array(image)
    if array.ndim == 2:
        array = array[:, :, None]
    _check_shape(array, image)
    scaled, notes = _scaled(array)
    valid = np.isfinite(scaled).all(axis=2) & ~hidden & ~_read_mask(mask, array.shape[:2])
    if channels == "auto" and scaled.shape[2] in (2, 4):
        valid &= scaled[:, :, -1] > 0
        scaled = scaled[:, :, :-1]
        notes.append(
            f"The last of {array.shape[2]} channels was read as opacity (channels='stack': as a band)."
        )
    if not valid.any():
        raise InputError("The image has no pixel that can be used: all are masked, transparent or NaN.")
    shown = np.where(valid[:, :, None], scaled, 0).astype(np.float32)
    is_stack = channels == "stack" or shown.shape[2] not in (1, 3)
    return Picture(np.ascontiguousarray(shown), valid, is_stack, notes)


def _as_array(image: Any) -> tuple[Array, Array]:
    """Return the numbers of an image, and where a masked array hides them."""
    if isinstance(image, str | bytes) or hasattr(image, "__fspath__"):
        raise InputTypeError(
            f"{image!r} is a path: read the file first, for example with symclust.read(path)."
        )
    masked: Any = np.ma.getmaskarray(image) if isinstance(image, np.ma.MaskedArray) else None
    if is_a(image, "PIL", "Image"):
        image = image.convert("RGBA") if image.mode == "P" else image
    try:
        array = np.asarray(np.ma.getdata(image) if masked is not None else image)
    except ValueError as error:
        raise InputTypeError(f"This is not an image: {error}. Give {KINDS}.") from error
    if array.dtype.kind not in "buif":
        raise InputTypeError(
            f"A {type(image).__name__} with entries of type {array.dtype} is not an image: give {KINDS}."
        )
    if array.ndim not in (2, 3):
        raise InputError(f"An image is rows × columns (× channels); got an array of shape {array.shape}.")
    if masked is None:
        return array, np.zeros(array.shape[:2], dtype=bool)
    return array, masked if masked.ndim == 2 else masked.any(axis=2)


def _check_shape(array: Array, image: Any) -> None:
    if array.size == 0:
        raise InputError(f"The image is empty: its shape is {np.shape(image)}.")
    if array.shape[2] > MOST_CHANNELS:
        raise InputError(
            f"The image has {array.shape[2]:,} channels, at most {MOST_CHANNELS:,} are read. Channels come "
            "last: rows × columns × channels."
        )


def _scaled(array: Array) -> tuple[Array, list[str]]:
    """Return values from 0 to 1: integers by the range of their type, other numbers by their own."""
    if array.dtype == bool:
        return array.astype(np.float32), []
    finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if array.dtype in (np.uint8, np.uint16):
        return array.astype(np.float32) / np.iinfo(array.dtype).max, []
    if low >= 0 and high <= 1:
        return array.astype(np.float32), []
    if low >= 0 and high <= 255 and array.dtype.kind in "iu":
        return array.astype(np.float32) / 255, ["The values were divided by 255."]
    if high - low == 0:
        return np.where(np.isfinite(array), 0.5, np.nan).astype(np.float32), []
    scaled = (array.astype(np.float64) - low) / (high - low)
    return scaled.astype(np.float32), [f"The values from {low:.4g} to {high:.4g} were scaled to 0 to 1."]


def _read_mask(mask: Any, shape: tuple[int, ...]) -> Array:
    if mask is None:
        return np.zeros(shape, dtype=bool)
    array = np.asarray(mask)
    if array.shape != shape or array.dtype.kind not in "bui":
        raise InputError(
            f"mask has shape {array.shape} and type {array.dtype}; expected bools of the image's shape "
            f"{tuple(shape)}, True at pixels to be left out."
        )
    return array.astype(bool)
