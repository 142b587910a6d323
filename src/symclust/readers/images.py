"""Images as arrays."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

from symclust._optional import need
from symclust.exceptions import InputError
from symclust.readers._pairs import Described
from symclust.readers._source import Source, naming_damage


def read_image_file(source: Source, kind: str = "image") -> Described:
    """Read a PNG, JPEG, TIFF, BMP or GIF file: height × width, and colours if it has some."""
    imageio = need("imageio.v3", "images", f"Reading {source.name}")
    with naming_damage(f"{source.name} is not an image that can be read, or is damaged"):
        return _describe(imageio, source)


def _describe(imageio: Any, source: Source) -> Described:
    options = {"extension": source.suffix} if source.suffix else {}
    properties = imageio.improps(io.BytesIO(source.data), **options)
    size = math.prod(properties.shape) * np.dtype(properties.dtype).itemsize
    source.afford(size, f"The image of shape {properties.shape} in {source.name}", "Give a smaller one.")
    picture = np.asarray(imageio.imread(io.BytesIO(source.data), **options))
    if picture.ndim not in (2, 3) or 0 in picture.shape:
        raise InputError(f"{source.name} holds an array of shape {picture.shape}, not one picture.")
    shape = " × ".join(map(str, picture.shape[:2]))
    colours = 1 if picture.ndim == 2 else picture.shape[2]
    return Described(picture, "image", notes=[f"{shape} pixels, {colours} channel{'s' * (colours != 1)}."])
