from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from symclust.report._pictures import as_pixels, colour_picture, grey_picture

image_module = pytest.importorskip("PIL.Image")  # comes with matplotlib


@settings(max_examples=30)
@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 20), st.integers(1, 20))))
def test_another_reader_sees_the_same_pixels(pixels):
    head, content = grey_picture(pixels).split(",")
    assert head == "data:image/png;base64"
    image_module.open(BytesIO(b64decode(content))).verify()  # checks the checksums
    assert np.array_equal(np.asarray(image_module.open(BytesIO(b64decode(content)))), pixels)


def test_pixels_span_black_to_white_with_one_scale_for_all():
    pixels = as_pixels([[[-1.0, 0.0]], [[0.0, 1.0]]], 2)
    assert pixels.dtype == np.uint8
    assert pixels.tolist() == [[[0, 128]], [[128, 255]]]
    assert not as_pixels(np.full((1, 2, 2), 7.0), 1).any()


@settings(max_examples=20)
@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 12), st.just(3))))
def test_colours_survive_their_filter(pixels):
    content = b64decode(colour_picture(pixels / 255).split(",")[1])
    image_module.open(BytesIO(content)).verify()
    assert np.array_equal(np.asarray(image_module.open(BytesIO(content))), pixels)
