"""Small grey images as PNG: the format is short enough to need no library."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode

import numpy as np
from numpy.typing import NDArray

__all__ = ["data_uri", "grey_png"]


def data_uri(content: bytes, mime: str) -> str:
    """Content as an address that needs no second file."""
    return f"data:{mime};base64,{b64encode(content).decode('ascii')}"


def grey_png(pixels: NDArray[np.uint8]) -> bytes:
    """Encode rows × columns of brightness (0 black, 255 white) as 8-bit greyscale PNG."""
    height, width = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    # Every scan line starts with its filter; 0 is "as it is".
    lines = np.hstack([np.zeros((height, 1), np.uint8), pixels]).tobytes()
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
