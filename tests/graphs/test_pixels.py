"""Similarity of pixels: what an image may be, where its edges are, and what they divide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust.exceptions import InputError, InputTypeError, OptionError
from symclust.graphs import as_picture, edge_strength, pixel_affinity

pytest.importorskip("skimage")


def halves(rows=24, columns=32, dtype=float, low=0, high=1):
    image = np.full((rows, columns), low, dtype=dtype)
    image[:, columns // 2 :] = high
    return image


@pytest.mark.parametrize(
    "image",
    [
        halves(),
        halves(dtype=np.uint8, high=255),
        halves(dtype=np.uint16, high=65535),
        halves().astype(np.float32),
        halves() > 0.5,
        np.repeat(halves()[:, :, None], 3, axis=2),
        halves(low=-3.0, high=1000.0),
        halves(dtype=np.int64, high=255),
    ],
    ids=["float", "uint8", "uint16", "float32", "bool", "rgb", "any range", "int64"],
)
def test_every_kind_of_image_is_read_the_same(image):
    channels = as_picture(image).channels
    np.testing.assert_allclose(channels[:, :, 0], halves(), atol=1e-6)


def test_opacity_and_gaps_leave_pixels_out():
    rgba = np.zeros((6, 8, 4), dtype=np.uint8)
    rgba[:, 4:] = 255
    assert not as_picture(rgba).valid[:, :4].any()
    assert as_picture(rgba, channels="stack").valid.all()
    gaps = halves(6, 8)
    gaps[2, 3] = np.nan
    assert np.argwhere(~as_picture(gaps).valid).tolist() == [[2, 3]]
    hidden = np.ma.masked_equal(halves(6, 8), 1)
    assert not as_picture(hidden).valid[:, 4:].any()
    A = pixel_affinity(gaps, 2)
    assert A[[2 * 8 + 3]].nnz == 0


def test_an_image_of_pillow_is_read():
    from PIL import Image

    picture = as_picture(Image.fromarray(halves(6, 8, np.uint8, high=255)))
    np.testing.assert_allclose(picture.channels[:, :, 0], halves(6, 8))


@pytest.mark.parametrize(
    ("image", "error", "words"),
    [
        (np.zeros((0, 5)), InputError, "empty"),
        (np.zeros(5), InputError, "rows × columns"),
        (np.zeros((2, 2, 2, 2)), InputError, "rows × columns"),
        (np.full((3, 3), np.nan), InputError, "no pixel"),
        (np.array([["a"]]), InputTypeError, "not an image"),
        ("picture.png", InputTypeError, "read the file first"),
        ([[1, 2], [3]], InputTypeError, "not an image"),
        (np.zeros((2, 2), dtype=complex), InputTypeError, "complex"),
    ],
)
def test_what_is_no_image_is_refused(image, error, words):
    with pytest.raises(error, match=words):
        pixel_affinity(image)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"radius": 0.5}, "radius"),
        ({"edge_scale": 0}, "edge_scale"),
        ({"density": 2}, "density"),
        ({"colour_scale": -1}, "colour_scale"),
        ({"channels": "rgb"}, "channels"),
        ({"mask": np.zeros((2, 2), bool)}, "mask"),
        ({"edges": np.zeros((2, 2))}, "edges"),
    ],
)
def test_options_are_checked(options, words):
    with pytest.raises((InputError, OptionError), match=words):
        pixel_affinity(halves(), **options)


def test_memory_is_refused_before_it_is_taken():
    with pytest.raises(InputError, match=r"similarities of .* would take .* GB"):
        pixel_affinity(np.zeros((3000, 3000)), 400, edges=np.zeros((3000, 3000)))


def test_an_edge_divides_and_nothing_else_does():
    A = pixel_affinity(halves(), 3)
    left, right = 10 * 32 + 10, 10 * 32 + 15
    assert A[left, left + 1] > 0.9
    assert A[right, right + 1] < 1e-2
    assert A.dtype == np.float32
    assert A.diagonal().sum() == 0


def test_texture_alone_makes_an_edge():
    image = np.full((48, 64), 0.5)
    image[:, :32] += (
        0.2 * np.where(np.arange(48) % 4 < 2, 1, -1)[:, None]
    )  # stripes, the same mean brightness
    image[:, 32:] += 0.2 * np.where(np.arange(32) % 4 < 2, 1, -1)
    edges = edge_strength(image)
    assert edges[12:36, 30:34].max(axis=1).mean() > 2 * np.median(edges[12:36, 8:24])


def test_colour_alone_makes_an_edge():
    from skimage.color import lab2rgb

    lab = np.full((24, 32, 3), (60.0, 30.0, 0.0))
    lab[:, 16:, 1] = -30
    edges = edge_strength(np.clip(lab2rgb(lab), 0, 1))
    assert edges[12, 16] > 3 * edges[12, 4]


def test_bands_of_a_stack_are_compared():
    stack = np.random.RandomState(0).normal(0, 0.01, (24, 32, 7))
    stack[:, 16:, 3:] += 1
    edges = edge_strength(stack)
    assert edges[4:20, 14:18].max(axis=1).min() > 2 * np.median(edges)


def test_own_edges_are_used():
    edges = np.zeros((10, 10))
    edges[5] = 1
    A = pixel_affinity(np.random.RandomState(0).uniform(size=(10, 10)), 4, edges=edges)
    assert A[40, 60] < 1e-6 < 0.99 < A[12, 13]


@settings(max_examples=20, deadline=None)
@given(rows=st.integers(1, 9), columns=st.integers(1, 9), radius=st.floats(1, 12), density=st.floats(0.05, 1))
def test_the_graph_is_symmetric_whatever_its_size(rows, columns, radius, density):
    image = np.random.RandomState(rows + 10 * columns).uniform(size=(rows, columns))
    A = pixel_affinity(image, radius, density=density, edges=image)
    assert A.shape == (rows * columns,) * 2
    assert abs(A - A.T).max() == 0 if A.nnz else True
    assert A.nnz == 0 or (A.data.min() >= 0 and A.data.max() <= 1)
    if rows * columns > 1:
        neighbours = A.tocoo()
        assert len(np.unique(neighbours.coords[0])) == rows * columns  # adjacent pixels are always compared


def test_fewer_similarities_with_a_lower_density():
    image = np.random.RandomState(0).uniform(size=(40, 60))
    full, sparse = (pixel_affinity(image, 20, density=density, edges=image) for density in (1, 0.1))
    assert 0.1 < sparse.nnz / full.nnz < 0.3
    assert abs(sparse - full.multiply(sparse > 0)).max() == 0
