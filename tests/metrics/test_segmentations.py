import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import mutual_info_score

from symclust.exceptions import InputError, OptionError
from symclust.metrics import (
    boundary_f_measure,
    boundary_map,
    boundary_precision_recall,
    human_boundary_agreement,
    region_covering,
    variation_of_information,
)
from symclust.metrics.segmentations import _thinned

shapes = st.tuples(st.integers(1, 7), st.integers(1, 7))
maps = shapes.flatmap(lambda shape: arrays(bool, shape))
pairs = shapes.flatmap(lambda shape: st.tuples(arrays(bool, shape), arrays(bool, shape)))
regions = shapes.flatmap(lambda shape: st.tuples(*[arrays(np.int64, shape, elements=st.integers(0, 3))] * 2))
probabilities = shapes.flatmap(
    lambda shape: st.tuples(
        st.lists(arrays(bool, shape), min_size=1, max_size=3),
        arrays(np.float64, shape, elements=st.sampled_from([0, 0.2, 0.5, 0.8, 1])),
    )
)


def plain_matching(B, truth, reach):
    """Largest one-to-one matching of pixels within reach, by an assignment over all pairs."""
    found, drawn = np.argwhere(B), np.argwhere(truth)
    near = np.linalg.norm(found[:, np.newaxis] - drawn, axis=2) <= reach + 1e-9
    rows, columns = linear_sum_assignment(near, maximize=True)
    return np.count_nonzero(near[rows, columns])


@given(regions.map(lambda pair: pair[0]))
def test_boundary_pixels_differ_from_the_right_or_the_lower_neighbour(labels):
    B = boundary_map(labels)
    rows, columns = labels.shape
    for y in range(rows):
        for x in range(columns):
            beside = [(y, x + 1)] * (x + 1 < columns) + [(y + 1, x)] * (y + 1 < rows)
            assert B[y, x] == any(labels[y, x] != labels[place] for place in beside)


@given(probabilities, st.sampled_from([0, 0.15, 0.3, 0.5]))
def test_counts_are_those_of_the_largest_matchings(given_maps, tolerance):
    truths, P = given_maps
    levels = [0.1, 0.4, 0.5, 0.9]
    curve = boundary_precision_recall(truths, P, tolerance=tolerance, thresholds=levels, thin=False)
    reach = tolerance * np.hypot(*P.shape)
    for i, level in enumerate(levels):
        sizes = [plain_matching(level <= P, truth, reach) for truth in truths]
        assert curve.matched_true[i] == sum(sizes)
        assert curve.found[i] == np.count_nonzero(level <= P)
        assert curve.true[i] == sum(map(np.count_nonzero, truths))
        # Which pixels are matched is open; with one annotator how many are is not.
        assert max(sizes) <= curve.matched_found[i] <= min(sum(sizes), curve.found[i])
    assert ((curve.f >= 0) & (curve.f <= 1)).all()


@given(maps, st.floats(0, 0.5))
def test_equal_boundaries_agree_perfectly(B, tolerance):
    assert boundary_f_measure(B, B, tolerance=tolerance) == 1
    assert boundary_f_measure([B, B, B], B.astype(float), tolerance=tolerance, thin=False) == 1


@given(st.integers(1, 5), st.integers(0, 9), st.integers(0, 9))
def test_a_shift_within_the_tolerance_does_not_matter_and_a_larger_one_ruins_all(width, shift, reach):
    truth, found = np.zeros((2, 12, 30), dtype=bool)
    truth[2 : 2 + width, 10] = True
    found[2 : 2 + width, 10 + shift] = True
    tolerance = reach / np.hypot(12, 30)  # exactly as far as it may be
    expected = float(shift <= reach)
    assert boundary_f_measure(truth, found, tolerance=tolerance) == expected


@given(pairs, st.data())
def test_more_pixels_never_lower_recall_and_fewer_never_raise_it(two, data):
    truth, B = two
    more = B | data.draw(arrays(bool, B.shape))
    few, many = (boundary_precision_recall(truth, found, tolerance=0.2, thresholds=1) for found in (B, more))
    assert few.matched_true[0] <= many.matched_true[0]
    assert few.recall[0] <= many.recall[0]


@given(pairs, st.floats(0, 0.4))
def test_one_annotator_and_one_map_may_change_places(two, tolerance):
    one, other = two
    assert boundary_f_measure(one, other, tolerance=tolerance) == boundary_f_measure(
        other, one, tolerance=tolerance
    )


def test_a_pixel_is_right_for_any_annotator_and_recall_counts_all():
    left, right, found = np.zeros((3, 4, 20), dtype=bool)
    left[:, 3], right[:, 15] = True, True
    found[:, 15], found[0, 9] = True, True
    curve = boundary_precision_recall([left, right], found, tolerance=0, thresholds=[0.5])
    assert (curve.matched_found[0], curve.found[0]) == (4, 5)
    assert (curve.matched_true[0], curve.true[0]) == (4, 8)
    stacked = boundary_precision_recall(
        np.stack([left, right]).astype("uint8"), found, tolerance=0, thresholds=1
    )
    assert stacked.best_f == curve.best_f == pytest.approx(2 * 0.8 * 0.5 / 1.3)


def test_thresholds_include_what_equals_them_and_keep_their_order():
    truth = np.array([[True, True, True, False]])
    curve = boundary_precision_recall(
        truth, [[0.2, 0.5, 0.9, 0.5]], tolerance=0, thresholds=[0.9, 0.5, 0.1, 1.0], thin=False
    )
    assert curve.found.tolist() == [1, 3, 4, 0]
    assert curve.precision.tolist() == pytest.approx([1, 2 / 3, 3 / 4, 1])
    assert curve.recall.tolist() == pytest.approx([1 / 3, 2 / 3, 1, 0])
    assert curve.best_threshold == 0.1
    assert boundary_precision_recall(truth, truth).thresholds == pytest.approx(np.arange(1, 51) / 51)


@pytest.mark.parametrize(
    ("drawn", "detected", "expected"), [(0, 0, 1.0), (0, 1, 0.0), (1, 0, 0.0), (1, 1, 1.0)]
)
def test_images_without_boundaries(drawn, detected, expected):
    truth, found = np.zeros((2, 5, 5), dtype=bool)
    truth[2] = drawn
    found[2] = detected
    assert boundary_f_measure(truth, found) == expected


@given(probabilities)
def test_pooled_curves_add_the_counts(given_maps):
    truths, P = given_maps
    curves = [boundary_precision_recall(truth, P, thresholds=4) for truth in truths]
    pooled = sum(curves)
    for name in ("matched_found", "found", "matched_true", "true"):
        assert getattr(pooled, name).tolist() == sum(getattr(curve, name) for curve in curves).tolist()
    best = sum(curve.at_best() for curve in curves)
    assert best.found[0] == sum(curve.found[curve.f.argmax()] for curve in curves)
    if len(curves) == 1:
        assert best.best_f == pooled.best_f
    with pytest.raises(InputError, match="different thresholds"):
        pooled + boundary_precision_recall(truths[0], P, thresholds=5)
    with pytest.raises(TypeError):
        pooled + 1
    with pytest.raises(TypeError):
        1 + pooled


@given(probabilities.map(lambda pair: pair[0]).filter(lambda drawn: len(drawn) > 1))
def test_people_are_measured_against_all_others(drawn):
    agreement = human_boundary_agreement(drawn, tolerance=0.2)
    assert agreement.found[0] == sum(map(np.count_nonzero, drawn))
    assert agreement.true[0] == (len(drawn) - 1) * agreement.found[0]
    assert human_boundary_agreement(drawn[:1] * 3, tolerance=0.2).best_f == 1


@given(shapes.flatmap(lambda shape: arrays(bool, (3 * shape[0], 3 * shape[1]))))
def test_thinning_keeps_the_shape_and_leaves_lines(B):
    """As many parts and as many holes are left; thinning again changes nothing."""
    thinned = _thinned(B)
    assert not (thinned & ~B).any()
    eight = np.ones((3, 3))
    assert ndimage.label(thinned, eight)[1] == ndimage.label(B, eight)[1]
    outside, left = (np.pad(~drawn, 1, constant_values=True) for drawn in (B, thinned))
    assert ndimage.label(left)[1] == ndimage.label(outside)[1]
    assert (_thinned(thinned) == thinned).all()


def test_thick_lines_become_thin():
    P = np.zeros((20, 40))
    P[8:13, 5:35] = 0.7
    truth = np.zeros((20, 40), dtype=bool)
    truth[10, 5:35] = True
    thinned = boundary_precision_recall(truth, P, thresholds=[0.5])
    assert 25 <= thinned.found[0] <= 30
    assert thinned.precision[0] == 1
    assert boundary_precision_recall(truth, P, thresholds=[0.5], thin=False).found[0] == 150
    assert boundary_precision_recall(truth, P > 0, thresholds=[0.5]).found[0] == 150  # bools stay
    assert boundary_precision_recall(truth, P > 0, thresholds=[0.5], thin=True).found[0] == thinned.found[0]


@given(shapes.flatmap(lambda shape: arrays(bool, (3 * shape[0], 3 * shape[1]))))
def test_thinning_is_that_of_scikit_image(B):
    thin = pytest.importorskip("skimage.morphology").thin
    assert (_thinned(B) == thin(B)).all()


@given(regions)
def test_covering_as_it_is_written(two):
    S, T = two
    total = 0
    for region in np.unique(S):
        inside = region == S
        shares = [(inside & (other == T)).sum() / (inside | (other == T)).sum() for other in np.unique(T)]
        total += inside.sum() * max(shares)
    assert region_covering(S, T) == pytest.approx(total / S.size)
    assert region_covering(S.ravel(), T.ravel()) == region_covering(S, T)
    assert region_covering(S, 7 - S) == 1


@given(regions)
def test_variation_of_information_is_what_mutual_information_leaves(two):
    S, T = (labels.ravel() for labels in two)
    nats = mutual_info_score(S, S) + mutual_info_score(T, T) - 2 * mutual_info_score(S, T)
    assert variation_of_information(*two) == pytest.approx(nats / np.log(2), abs=1e-9)
    assert variation_of_information(T, S) == pytest.approx(variation_of_information(S, T))
    assert variation_of_information(S, 7 - S) == 0


@given(regions, st.data())
def test_variation_of_information_is_a_distance(two, data):
    S, T = two
    U = data.draw(arrays(np.int64, S.shape, elements=st.integers(0, 3)))
    assume(S.size > 1)
    way_round = variation_of_information(S, U) + variation_of_information(U, T)
    assert variation_of_information(S, T) <= way_round + 1e-9


B = np.zeros((3, 4), dtype=bool)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: boundary_map([1, 2]), InputError, r"shape \(2,\); expected an image"),
        (lambda: boundary_map(np.zeros((0, 3))), InputError, "expected an image"),
        (
            lambda: boundary_f_measure(B, B.T),
            InputError,
            r"annotator 0 have shape \(3, 4\); expected \(4, 3\)",
        ),
        (lambda: boundary_f_measure([B, B[:2]], B), InputError, "annotator 1 have shape"),
        (lambda: boundary_f_measure([], B), InputError, r"annotator 0 have shape \(0,\)"),
        (lambda: boundary_f_measure(B + 2, B), InputError, "other than True and False.*boundary_map"),
        (lambda: boundary_f_measure(B * np.nan, B), InputError, "other than True and False"),
        (lambda: boundary_f_measure(B, B + 255), InputError, "from 255 to 255.*Divide by 255"),
        (lambda: boundary_f_measure(B, B * np.nan), InputError, "without NaN"),
        (lambda: boundary_f_measure(B, B - 0.5), InputError, "from -0.5"),
        (lambda: boundary_f_measure(B, B.astype(str)), InputError, "bools or of probabilities"),
        (lambda: boundary_f_measure(B, B[0]), InputError, "rows × columns"),
        (lambda: boundary_f_measure(B, B, thresholds=0), OptionError, "thresholds=0"),
        (lambda: boundary_f_measure(B, B, thresholds=[0.0, 0.5]), OptionError, "above 0"),
        (lambda: boundary_f_measure(B, B, thresholds=[]), OptionError, "above 0"),
        (lambda: boundary_f_measure(B, B, tolerance=-1), OptionError, "tolerance=-1"),
        (lambda: boundary_f_measure(B, B, thin="auto"), OptionError, "thin='auto'"),
        (lambda: human_boundary_agreement(B), InputError, "at least two"),
        (lambda: region_covering(B, B.T), InputError, r"shape \(3, 4\) and labels_pred \(4, 3\)"),
        (lambda: variation_of_information([], []), InputError, "region for each pixel"),
    ],
)
def test_wrong_input_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_boundaries_are_those_of_the_berkeley_data():
    folder = os.environ.get("SYMCLUST_DATA")
    if not folder or not (Path(folder) / "bsds20_dev.npz").exists():
        pytest.skip("set SYMCLUST_DATA to the folder that has bsds20_dev.npz")
    with np.load(Path(folder) / "bsds20_dev.npz", allow_pickle=False) as data:
        drawn = [name.removeprefix("seg_") for name in data.files if name.startswith("seg_2092_")]
        for name in drawn:
            assert (boundary_map(data[f"seg_{name}"]) == data[f"bnd_{name}"]).all()
        agreement = human_boundary_agreement([data[f"bnd_{name}"] for name in drawn])
    assert 0.9 < agreement.best_f < 0.95
