"""From an image to its regions."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from symclust import SymNMF
from symclust import segment_image as segment
from symclust.applications.images._regions import (
    borders,
    common_refinement,
    connected,
    join_small,
    merge_order,
    region_tree,
    ultrametric,
)
from symclust.applications.images._segmentations import WAYS, PixelGraph, factor
from symclust.applications.images.segmentation import enlarged
from symclust.exceptions import DegenerateWarning, InputError, InterruptedWarning, OptionError
from symclust.graphs import (
    as_picture,
    compare_basins,
    compare_pixels,
    find_barriers,
    normalized_cut,
    pixel_edges,
)
from symclust.metrics import boundary_map

pytest.importorskip("skimage")


def segment_image(image, n_segments=None, **options):
    """The function itself, with a smaller disk: a tenth of the similarities, in a tenth of the time."""
    return segment(image, n_segments, **{"radius": 7, **options})


@pytest.fixture(scope="module")
def scene():
    """Sky, ground, a house and a sun, with a little noise; and which is which."""
    truth = np.zeros((96, 144), dtype=int)
    truth[60:] = 1
    truth[35:76, 24:64] = 2
    y, x = np.mgrid[:96, :144]
    truth[(y - 26) ** 2 + (x - 110) ** 2 < 196] = 3
    colours = np.array([[0.4, 0.6, 0.9], [0.3, 0.5, 0.2], [0.6, 0.2, 0.2], [0.95, 0.85, 0.3]])
    noise = np.random.RandomState(0).normal(0, 0.02, (96, 144, 3))
    return np.clip(colours[truth] + noise, 0, 1), truth


@pytest.fixture(scope="module")
def answer(scene):
    return segment_image(scene[0], random_state=0)


def test_regions_of_a_scene_are_found(scene, answer):
    assert answer.labels.shape == (96, 144)
    assert adjusted_rand_score(scene[1].ravel(), answer.labels.ravel()) > 0.9
    assert adjusted_rand_score(scene[1].ravel(), answer.cut(4).ravel()) > 0.9


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("unit", ["basins", "pixels"])
def test_all_ways_find_them(scene, way, unit):
    found = segment_image(scene[0], 4, way=way, unit=unit, max_clusters=6, n_superpixels=12, random_state=0)
    assert found.n_segments == 4
    assert adjusted_rand_score(scene[1].ravel(), found.labels.ravel()) > 0.8


def test_exactly_as_many_regions_as_asked_for_each_of_one_piece(scene):
    for n in (1, 2, 5, 9):
        labels = segment_image(scene[0], n, random_state=0).labels
        assert sorted(np.unique(labels)) == list(range(n))
        assert connected(labels).max() + 1 == n


def test_the_same_seed_gives_the_same_regions(scene, answer):
    np.testing.assert_array_equal(segment_image(scene[0], random_state=0).labels, answer.labels)


def test_cuts_are_nested_and_follow_the_strengths(answer):
    coarse, fine = answer.cut(3), answer.cut(6)
    for label in range(6):
        assert len(np.unique(coarse[fine == label])) == 1
    scores = sorted((node.score for node in answer.tree.nodes if node.children), reverse=True)
    borders_of_cut = boundary_map(answer.cut(4))
    np.testing.assert_array_equal(answer.border_strength >= np.float32(scores[2]), borders_of_cut)


def test_probability_of_boundary_is_the_share_of_segmentations(answer):
    expected = np.mean([boundary_map(one) for one in answer.segmentations], axis=0)
    np.testing.assert_allclose(answer.boundary_probability, expected, atol=1e-6)
    assert len(answer.segmentations) == 15  # k = 2, ..., 16


def test_factoring_basins_is_factoring_pixels_that_stay_together(scene):
    """‖A − HHᵀ‖² − ‖C − GGᵀ‖² does not depend on H = S M^-1/2 G."""
    picture = as_picture(scene[0][::3, ::3])
    barriers = find_barriers(pixel_edges(picture), picture.valid)
    graph = PixelGraph(barriers.basins.ravel(), *compare_basins(picture, barriers, 5.0, 0.05))
    E = compare_pixels(picture, barriers, 5.0, 0.05)
    A, C = normalized_cut(E).toarray().astype(float), graph.C.toarray()
    differences = []
    for seed in range(3):
        G = np.random.RandomState(seed).uniform(size=(len(C), 3))
        H = (G / np.sqrt(graph.sizes)[:, None])[graph.groups]
        differences.append(np.sum((A - H @ H.T) ** 2) - np.sum((C - G @ G.T) ** 2))
    np.testing.assert_allclose(differences, differences[0], rtol=1e-5)
    assert factor(graph, 3, 0).shape == (len(C), 3)


def test_a_large_image_is_compared_in_a_smaller_size(scene):
    large = np.kron(scene[0], np.ones((3, 3, 1)))
    found = segment_image(large, 4, max_pixels=96 * 144, random_state=0)
    assert found.labels.shape == (288, 432)
    truth = np.kron(scene[1], np.ones((3, 3), dtype=int))
    assert adjusted_rand_score(truth.ravel(), found.labels.ravel()) > 0.9
    assert any("96 × 144" in note for note in found.notes)
    assert found.cut(3).shape == (288, 432)


@pytest.mark.parametrize("preset", ["fast", "large"])
def test_cheaper_presets_find_the_same(scene, preset):
    found = segment_image(scene[0], 4, preset=preset, random_state=0)
    assert adjusted_rand_score(scene[1].ravel(), found.labels.ravel()) > 0.9


def test_masked_pixels_belong_to_no_region(scene):
    mask = np.zeros((96, 144), dtype=bool)
    mask[:, 80:83] = True  # a band that leaves two parts without any similarity
    found = segment_image(scene[0], 5, mask=mask, random_state=0)
    assert (found.labels[mask] == -1).all()
    assert (found.labels[~mask] >= 0).all()
    gaps = scene[0].copy()
    gaps[mask] = np.nan
    np.testing.assert_array_equal(segment_image(gaps, 5, random_state=0).labels, found.labels)
    assert (found.cut(3)[mask] == -1).all()


def test_hints_join_and_divide(scene):
    image, truth = scene
    house, sun, sky = (50, 40), (26, 110), (5, 5)
    together = segment_image(image, 4, hints=[(*house, 0), (*sun, 0), (*sky, 1)], random_state=0).labels
    assert together[house] == together[sun] != together[sky]
    left, right = (85, 5), (85, 130)  # the ground, cut in two because somebody says so
    apart = segment_image(image, 5, hints=[(*left, 3), (*right, 7)], random_state=0).labels
    assert apart[left] != apart[right]
    as_image = np.full(truth.shape, -1)
    as_image[left], as_image[right] = 3, 7
    np.testing.assert_array_equal(segment_image(image, 5, hints=as_image, random_state=0).labels, apart)


def test_hints_hold_whatever_the_number_of_regions(scene):
    hints = [(85, 5, 0), (85, 130, 1), (5, 5, 2)]
    labels = segment_image(scene[0], 3, hints=hints, random_state=0).labels
    assert len({labels[85, 5], labels[85, 130], labels[5, 5]}) == 3


@pytest.mark.parametrize("unit", ["basins", "pixels"])
def test_hints_of_pixels_that_touch_are_kept_apart(scene, unit):
    hints = [(85, 5, 0), (85, 6, 1), (86, 6, 2)]
    labels = segment_image(scene[0], 6, hints=hints, unit=unit, max_clusters=6, random_state=0).labels
    assert len({labels[85, 5], labels[85, 6], labels[86, 6]}) == 3


def test_more_hints_than_regions_are_refused(scene):
    with pytest.raises(OptionError, match="hints tell 3 regions apart"):
        segment_image(scene[0], 2, hints=[(85, 5, 0), (85, 130, 1), (5, 5, 2)])


@pytest.mark.parametrize(
    ("hints", "words"),
    [
        ([(100, 0, 1)], "outside"),
        (np.zeros((3, 4), dtype=int), "shape"),
        (np.zeros((96, 144)), "whole numbers"),
    ],
)
def test_wrong_hints_are_refused(scene, hints, words):
    with pytest.raises(InputError, match=words):
        segment_image(scene[0], hints=hints)


def test_grey_and_stack_and_opacity(scene):
    image, truth = scene
    grey = image[:, :, 0]
    stack = np.concatenate([image, image[:, :, ::-1], image[:, :, :1] ** 2], axis=2)
    rgba = np.concatenate([image, np.ones((96, 144, 1))], axis=2)
    for kind in (grey, stack, rgba, (255 * image).astype(np.uint8), (65535 * image).astype(np.uint16)):
        found = segment_image(kind, 4, random_state=0)
        assert adjusted_rand_score(truth.ravel(), found.labels.ravel()) > 0.8


@pytest.mark.parametrize("image", [np.zeros((20, 30)), np.ones((1, 1)), np.full((5, 5, 3), 9, np.uint8)])
def test_one_colour_is_one_region(image):
    with pytest.warns(DegenerateWarning, match="equal"):
        found = segment_image(image)
    assert (found.labels == 0).all()
    assert "one region" in found.notes[-1]
    with pytest.raises(InputError, match="n_segments=2"):
        segment_image(image, 2)


@pytest.mark.parametrize("shape", [(1, 40), (40, 1), (2, 2), (3, 50)])
def test_thin_and_tiny_images(shape):
    image = np.random.RandomState(0).uniform(size=shape)
    labels = segment_image(image, random_state=0).labels
    assert labels.shape == shape
    assert labels.min() == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"way": "kmeans"}, "way='kmeans' is not known"),
        ({"unit": "voxels"}, "unit="),
        ({"preset": "best"}, "preset="),
        ({"n_segments": 0}, "n_segments=0"),
        ({"n_segments": 5000}, "regions of at least min_size"),
        ({"max_clusters": 1}, "max_clusters"),
        ({"min_size": 0}, "min_size"),
        ({"n_superpixels": 1}, "n_superpixels"),
        ({"max_pixels": 1}, "max_pixels"),
    ],
)
def test_options_are_checked(scene, options, words):
    with pytest.raises(OptionError, match=words):
        segment_image(scene[0], **options)


def test_progress_is_told(scene):
    told = []
    segment_image(scene[0], random_state=0, callback=lambda p: told.append((p.stage, p.done, p.total)))
    assert [stage for stage, *_ in told][:2] == ["edges", "similarities"]
    assert told[-1] == ("segmentations", 15, 15)


def test_pictures_and_masks_are_written(scene, answer, tmp_path):
    from skimage.io import imread

    np.testing.assert_array_equal(np.load(answer.save_image(tmp_path / "mask.npy")), answer.labels)
    np.testing.assert_array_equal(imread(answer.save_image(tmp_path / "mask.png")), answer.labels + 1)
    for style in ("contours", "colours", "both"):
        picture = imread(answer.save_image(tmp_path / "overlay.png", style))
        np.testing.assert_array_equal(picture, answer.overlay(style))
    inside = answer.labels == 0
    assert np.ptp(answer.overlay("colours")[inside], axis=0).max() == 0
    with pytest.raises(InputError, match="ends in"):
        answer.save_image(tmp_path / "mask.txt")
    with pytest.raises(OptionError, match="style"):
        answer.overlay("cartoon")


def test_it_is_drawn_and_reported(answer, tmp_path):
    axes = answer.plot()
    assert len(axes.images) >= 1
    page = answer.report(tmp_path / "scene.html", title="A scene").read_text(encoding="utf-8")
    assert "A scene" in page
    assert "<" in answer._repr_html_()


def test_regions_are_described(answer):
    regions = answer.regions()
    assert sum(region.size for region in regions) == answer.labels.size
    for region in regions:
        rows, columns = np.nonzero(answer.labels == region.number)
        assert region.middle == (round(rows.mean(), 1), round(columns.mean(), 1))


# Regions ----------------------------------------------------------------------------------------------------


labels_of_images = st.integers(0, 10_000).map(
    lambda seed: connected(np.random.RandomState(seed).randint(0, 4, (6, 7)))
)


@settings(max_examples=40, deadline=None)
@given(labels_of_images, st.integers(0, 100))
def test_the_tree_is_that_of_plain_merging(leaves, seed):
    across, down = np.random.RandomState(seed).uniform(size=(2, *leaves.shape)).astype(np.float32)
    border = borders(leaves, across, down)
    order = merge_order(border, leaves.max() + 1)
    tree = region_tree(leaves, order)
    plain, sizes = leaves.copy(), []
    while plain.max() > 0:
        now = borders(plain, across, down)
        weakest = now.strength.argmin()
        plain[plain == now.second[weakest]] = now.first[weakest]
        _, plain = np.unique(plain, return_inverse=True)
        plain = plain.reshape(leaves.shape)
        sizes.append(plain.copy())
    for merged in sizes:
        ours = tree.cut(merged.max() + 1).reshape(leaves.shape)
        assert adjusted_rand_score(merged.ravel(), ours.ravel()) == pytest.approx(1)


@settings(max_examples=40, deadline=None)
@given(labels_of_images, st.integers(0, 100))
def test_thresholds_of_the_ultrametric_are_cuts(leaves, seed):
    across, down = np.random.RandomState(seed).uniform(size=(2, *leaves.shape)).astype(np.float32)
    border = borders(leaves, across, down)
    order = merge_order(border, leaves.max() + 1)
    tree, strength = region_tree(leaves, order), ultrametric(leaves, border, order)
    heights = sorted({node.score for node in tree.nodes if node.children}, reverse=True)
    for height in heights[:5]:
        k = 1 + sum(node.score >= height for node in tree.nodes if node.children)
        cut = tree.cut(k).reshape(leaves.shape)
        np.testing.assert_array_equal(strength >= np.float32(height), boundary_map(cut))


@settings(max_examples=40, deadline=None)
@given(labels_of_images, st.integers(1, 12))
def test_small_regions_join_a_neighbour(leaves, smallest):
    across, down = np.random.RandomState(0).uniform(size=(2, *leaves.shape))
    joined = join_small(leaves, across, down, smallest)
    sizes = np.bincount(joined.ravel())
    assert sizes.min() >= smallest or len(sizes) == 1
    for region in range(leaves.max() + 1):
        assert len(np.unique(joined[leaves == region])) == 1


def test_refinement_divides_where_any_segmentation_does():
    first, second = np.zeros((4, 6), dtype=int), np.zeros((4, 6), dtype=int)
    first[:, 3:], second[2:] = 1, 1
    assert common_refinement([first, second]).max() + 1 == 4


def test_enlarged_labels_keep_their_places():
    labels = np.array([[0, 0, 1], [0, 2, 1]])
    large = enlarged(labels, (20, 30))
    np.testing.assert_array_equal(large[5::10, 5::10], labels)
    assert set(np.unique(large)) == {0, 1, 2}


def test_interrupt_keeps_the_segmentations_so_far():
    def stop(step):
        if step.stage == "segmentations" and step.done == 3:
            raise KeyboardInterrupt

    image = np.full((60, 80), 0.2)
    image[20:45, 25:55] = 0.8
    with pytest.warns(InterruptedWarning, match="after 3 of"):
        answer = segment_image(image, 2, random_state=0, callback=stop)
    assert len(answer.segmentations) == 3
    assert answer.labels[30, 40] != answer.labels[0, 0]


def test_interrupt_of_a_factorization_ends_all_of_them(monkeypatch):
    fits = []

    def fit(self, X, y=None):
        fits.append(self.n_clusters)
        if len(fits) == 2:
            warnings.warn("interrupted", InterruptedWarning, stacklevel=2)
        return original(self, X, y)

    original = SymNMF.fit
    monkeypatch.setattr(SymNMF, "fit", fit)
    image = np.full((60, 80), 0.2)
    image[20:45, 25:55] = 0.8
    image[:10] = 0.5
    with pytest.warns(InterruptedWarning, match="after 1 of"):
        segment_image(image, random_state=0)
    assert len(fits) == 2
