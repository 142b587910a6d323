from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest

from symclust.report._pictures import as_pixels, colour_picture, grey_picture

image_module = pytest.importorskip("PIL.Image")  # comes with matplotlib


@pytest.mark.parametrize("shape", [(1, 1), (7, 20), (12, 5, 3)])
def test_addresses_hold_the_same_pixels(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    address = grey_picture(pixels) if len(shape) == 2 else colour_picture(pixels / 255)
    head, content = address.split(",")
    assert head == "data:image/png;base64"
    assert np.array_equal(np.asarray(image_module.open(BytesIO(b64decode(content)))), pixels)


def test_pixels_span_black_to_white_with_one_scale_for_all():
    pixels = as_pixels([[[-1.0, 0.0]], [[0.0, 1.0]]], 2)
    assert pixels.dtype == np.uint8
    assert pixels.tolist() == [[[0, 128]], [[128, 255]]]
    assert not as_pixels(np.full((1, 2, 2), 7.0), 1).any()
