from types import SimpleNamespace

import numpy as np
import pytest

from symclust.exceptions import InputError, OptionError
from symclust.plotting import plot_segmentation, segment_means, with_borders

IMAGE = np.random.default_rng(0).random((6, 8, 3))
LABELS = (np.arange(48).reshape(6, 8) % 8 > 3).astype(int) * 5


def drawn(ax):
    return np.asarray(ax.images[0].get_array())


def test_segments_have_their_mean_colour():
    shown = drawn(plot_segmentation(IMAGE, LABELS, kind="mean"))
    for segment in (0, 5):
        assert np.allclose(shown[segment == LABELS], IMAGE[segment == LABELS].mean(axis=0))
    assert np.allclose(drawn(plot_segmentation(IMAGE, LABELS, kind="borders")), IMAGE)
    half = drawn(plot_segmentation(IMAGE, LABELS, strength=0.5))
    assert np.allclose(half, (IMAGE + segment_means(IMAGE, LABELS)) / 2)


def test_lines_run_between_different_pixels():
    ax = plot_segmentation(IMAGE, LABELS)
    lines = np.array(ax.collections[-1].get_segments())
    assert len(lines) == 6
    assert (lines[:, :, 0] == 3.5).all()


def test_borders_of_a_grey_image_and_of_an_answer():
    answer = SimpleNamespace(image=IMAGE[:, :, 0], labels=LABELS)
    ax = plot_segmentation(answer)
    assert drawn(ax).shape == (6, 8, 3)
    assert ax.get_xlabel() == "2 segments"
    large = with_borders(IMAGE, LABELS, least_side=16)
    assert large.shape == (12, 16, 3)
    assert np.array_equal(large[::2, ::2][:, :3], IMAGE[:, :3])


def test_bytes_are_scaled():
    image = np.array([[0, 255], [51, 102]], dtype=np.uint8)
    shown = drawn(plot_segmentation(image, np.arange(4).reshape(2, 2), kind="mean"))
    assert np.allclose(shown[:, :, 0], [[0, 1], [0.2, 0.4]])


def test_refuses_what_does_not_fit():
    with pytest.raises(InputError, match="needs labels"):
        plot_segmentation(IMAGE)
    with pytest.raises(InputError, match=r"The image has shape \(6, 8, 3\) and the labels \(6, 7\)"):
        plot_segmentation(IMAGE, LABELS[:, :7])
    with pytest.raises(OptionError, match="kind='both' is not known"):
        plot_segmentation(IMAGE, LABELS, kind="both")
