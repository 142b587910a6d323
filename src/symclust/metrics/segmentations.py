"""How well the regions of an image, or the boundaries between them, agree with those that people drew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.special import xlogy
from sklearn.metrics.cluster import contingency_matrix

from symclust._types import Array, Image
from symclust.exceptions import InputError, OptionError
from symclust.validation import check_number

THRESHOLDS = 50
# The eight neighbours of a pixel, around it: right, upper right, up, ...
AROUND = ((0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1))


def boundary_map(labels: ArrayLike) -> Array:
    """Pixels on the boundary between regions: those that differ from the pixel right of them or below.

    Each boundary is one pixel wide, on the upper left side of where the regions meet. This is how the
    boundaries of the Berkeley segmentation data are made from the regions that people drew.

    Parameters
    ----------
    labels : array-like of shape (rows, columns)
        The region of each pixel.

    Returns
    -------
    ndarray of bool of shape (rows, columns)
        True on a boundary. The frame of the image is none.

    Examples
    --------
    >>> from symclust.metrics import boundary_map
    >>> boundary_map([[0, 0, 1], [0, 0, 1], [2, 2, 2]]).astype(int)
    array([[0, 1, 0],
           [1, 1, 1],
           [0, 0, 0]])
    """
    S = np.asarray(labels)
    if S.ndim != 2 or S.size == 0:
        raise InputError(f"The labels have shape {S.shape}; expected an image of rows × columns.")
    B = np.zeros(S.shape, dtype=bool)
    B[:, :-1] = S[:, :-1] != S[:, 1:]
    B[:-1] |= S[:-1] != S[1:]
    return B


@dataclass(frozen=True, eq=False)
class BoundaryCurve:
    """Precision and recall of boundaries over thresholds, as counts that add up over images.

    Add the curves of several images, ``sum(curves)``, to measure a method on all of them.

    Parameters
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Pixels at or above a threshold are detected.
    matched_found, found : ndarray of shape (n_thresholds,)
        Detected pixels that match a true boundary, and all detected pixels.
    matched_true, true : ndarray of shape (n_thresholds,)
        True boundary pixels that were detected, and all of them, summed over the annotators.

    Examples
    --------
    The best F at one threshold for a whole set of images, and at the best threshold of each image:

    >>> import numpy as np
    >>> from symclust.metrics import boundary_precision_recall
    >>> truth = np.zeros((9, 9), dtype=bool)
    >>> truth[4] = True
    >>> strong, weak = (boundary_precision_recall(truth, p * truth + 0.2) for p in (0.8, 0.4))
    >>> pooled = strong + weak
    >>> round(pooled.best_f, 2), round(pooled.best_threshold, 2)
    (1.0, 0.22)
    >>> round(sum([strong.at_best(), weak.at_best()]).best_f, 2)
    1.0
    """

    thresholds: Array
    matched_found: Array
    found: Array
    matched_true: Array
    true: Array

    @property
    def precision(self) -> Array:
        """Share of the detected pixels that are true; 1 if nothing was detected: then nothing is wrong."""
        return _share(self.matched_found, self.found)

    @property
    def recall(self) -> Array:
        """Share of the true pixels that were detected; 1 if there are none: then nothing was missed."""
        return _share(self.matched_true, self.true)

    @property
    def f(self) -> Array:
        """F = 2PR / (P + R) of precision and recall, at each threshold; 0 if both are 0."""
        P, R = self.precision, self.recall
        return np.divide(2 * P * R, P + R, out=np.zeros_like(P), where=P + R > 0)

    @property
    def best_f(self) -> float:
        """The largest F of all thresholds, without interpolation between them."""
        return float(self.f.max())

    @property
    def best_threshold(self) -> float:
        """The threshold of the largest F, the lowest if there are several."""
        return float(self.thresholds[self.f.argmax()])

    def at_best(self) -> BoundaryCurve:
        """The counts at the best threshold alone, to be added over images each with its own.

        The threshold of what is returned is NaN, since the sum has none.
        """
        here = [self.f.argmax()]
        counts = (self.matched_found, self.found, self.matched_true, self.true)
        return BoundaryCurve(np.array([np.nan]), *(count[here] for count in counts))

    def __add__(self, other: Any) -> BoundaryCurve:
        if not isinstance(other, BoundaryCurve):
            return NotImplemented
        if not np.array_equal(self.thresholds, other.thresholds, equal_nan=True):
            raise InputError(
                f"The curves have different thresholds, {len(self.thresholds)} and {len(other.thresholds)}: "
                "measure all images with the same thresholds=."
            )
        return BoundaryCurve(
            self.thresholds,
            self.matched_found + other.matched_found,
            self.found + other.found,
            self.matched_true + other.matched_true,
            self.true + other.true,
        )

    def __radd__(self, other: Any) -> BoundaryCurve:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum() starts with 0


def boundary_f_measure(
    boundaries_true: Image,
    boundary: ArrayLike,
    *,
    tolerance: float = 0.0075,
    thresholds: int | ArrayLike = THRESHOLDS,
    thin: bool | None = None,
) -> float:
    """Best F-measure of a boundary over all thresholds: the summary of its precision-recall curve.

    Parameters
    ----------
    boundaries_true, boundary, tolerance, thresholds, thin
        As in `boundary_precision_recall`.

    Returns
    -------
    float
        Between 0 and 1. With several annotators who disagree, 1 is out of reach: see
        `human_boundary_agreement`.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.metrics import boundary_f_measure, boundary_map
    >>> drawn = np.repeat([[0, 0, 0, 1, 1, 1]], 8, axis=0)
    >>> found = np.repeat([[0, 0, 1, 1, 1, 2]], 8, axis=0)
    >>> round(boundary_f_measure(boundary_map(drawn), boundary_map(found), tolerance=0.1), 3)
    0.667
    """
    return boundary_precision_recall(
        boundaries_true, boundary, tolerance=tolerance, thresholds=thresholds, thin=thin
    ).best_f


def boundary_precision_recall(
    boundaries_true: Image,
    boundary: ArrayLike,
    *,
    tolerance: float = 0.0075,
    thresholds: int | ArrayLike = THRESHOLDS,
    thin: bool | None = None,
) -> BoundaryCurve:
    """Precision and recall of a boundary, at each threshold, against those that people drew.

    Detected pixels are matched one to one with the pixels of each annotator within the tolerance, as many as
    possible. A detected pixel is right if it is matched for any annotator; recall counts the matched pixels
    of all annotators (Martin, Fowlkes and Malik 2004).

    Parameters
    ----------
    boundaries_true : array-like of bool of shape (rows, columns), or several of them
        True, or 1, on the boundaries that each annotator drew: one map, a list of maps or an array of shape
        (n_annotators, rows, columns). Of regions, give ``boundary_map(labels)``.
    boundary : array-like of shape (rows, columns)
        The detected boundary: a map of bools, or the probability of a boundary from 0 to 1 at each pixel, for
        example the average of the boundary maps of many segmentations.
    tolerance : float, default=0.0075
        How far apart matched pixels may be, as a share of the diagonal of the image. The default is that of
        the benchmark: 2 pixels at 240 × 160.
    thresholds : int or array-like, default=50
        The thresholds, above 0 and at most 1, or how many: n of them are 1/(n+1), ..., n/(n+1). A map of
        bools is the same at all.
    thin : bool, default=None
        Whether to thin what was detected to lines of one pixel, at each threshold. None thins probabilities,
        as the benchmark does, and takes a map of bools as it is. Thinning also removes the corners of
        staircases, about a sixth of the pixels of a `boundary_map`; true boundaries are never thinned.

    Returns
    -------
    BoundaryCurve
        Precision, recall and F at each threshold, and the counts behind them. Curves of several images can
        be added.

    Notes
    -----
    The benchmark's own program looks for the matching with the smallest sum of distances where a pixel left
    over costs 100 times the tolerance. A matching with one more pair saves more than any distances it adds
    (unless it moves more than about 200 other pairs), so that both match equally many pixels. Which ones may
    differ, and with several annotators precision by about one percent: near candidates are tried first here,
    but the sum of distances is not minimised.

    A threshold costs about a millisecond per annotator for an image of 240 × 160 pixels; thresholds that
    give the same pixels are computed once.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.metrics import boundary_precision_recall
    >>> drawn = np.zeros((6, 8), dtype=bool)
    >>> drawn[:, 3] = True
    >>> P = np.zeros((6, 8))
    >>> P[:, 3], P[:3, 6] = 0.5, 0.9
    >>> curve = boundary_precision_recall(drawn, P, thresholds=[0.4, 0.8])
    >>> curve.precision.round(2).tolist(), curve.recall.tolist()
    ([0.67, 0.0], [1.0, 0.0])
    >>> curve.best_f, curve.best_threshold
    (0.8, 0.4)
    """
    P, already_thin = _read_detection(boundary)
    truths = _read_truths(boundaries_true, P.shape)
    levels = _read_thresholds(thresholds)
    check_number("tolerance", tolerance, least=0, most=1)
    if thin not in (None, True, False):
        raise OptionError(f"thin={thin!r} is not known. Choose True, False, or None to thin probabilities.")
    reach = tolerance * float(np.hypot(*P.shape))
    thinning = not already_thin if thin is None else thin
    # Pixels above a higher threshold are some of those above a lower one: equally many are the same.
    _, first, which = np.unique(
        [np.count_nonzero(level <= P) for level in levels], return_index=True, return_inverse=True
    )
    maps = [_thinned(levels[i] <= P) if thinning else levels[i] <= P for i in first]
    counts = np.array([_count_matches(truths, B, reach) for B in maps], dtype=np.int64)[which]
    true = np.full(len(levels), sum(np.count_nonzero(truth) for truth in truths))
    return BoundaryCurve(levels, counts[:, 0], counts[:, 1], counts[:, 2], true)


def human_boundary_agreement(boundaries_true: Image, *, tolerance: float = 0.0075) -> BoundaryCurve:
    """Precision and recall of each annotator against the others, pooled: what one can hope for.

    Parameters
    ----------
    boundaries_true : sequence of array-like of bool of shape (rows, columns)
        The boundaries that at least two annotators drew.
    tolerance : float, default=0.0075
        As in `boundary_precision_recall`.

    Returns
    -------
    BoundaryCurve
        With one threshold, which means nothing; `best_f` is the agreement. Can be added over images.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.metrics import human_boundary_agreement
    >>> line, other = np.zeros((2, 5, 5), dtype=bool)
    >>> line[2], other[:, 2] = True, True
    >>> round(human_boundary_agreement([line, line, other], tolerance=0).best_f, 2)
    0.57
    """
    maps = _read_truths(boundaries_true, None)
    if len(maps) < 2:
        raise InputError("There is one annotator: agreement needs the boundaries of at least two.")
    others = (maps[:i] + maps[i + 1 :] for i in range(len(maps)))
    curves = [
        boundary_precision_recall(rest, own, tolerance=tolerance, thresholds=1)
        for rest, own in zip(others, maps, strict=True)
    ]
    return sum(curves[1:], curves[0])


def region_covering(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""How well the best region found covers each true one, averaged by area.

    .. math:: \frac{1}{N} \sum_{R \in S} |R| \max_{R' \in S'} \frac{|R \cap R'|}{|R \cup R'|}

    over the true regions S and those found S' (Arbeláez, Maire, Fowlkes and Malik 2011).

    Parameters
    ----------
    labels_true, labels_pred : array-like of one shape
        The region of each pixel. The labels need not be the same; −1 is one more region.

    Returns
    -------
    float
        Above 0 and at most 1; 1 for equal regions. For several annotators take the mean over them.

    See Also
    --------
    sklearn.metrics.rand_score : the Rand index; its mean over annotators is the probabilistic Rand index.

    Examples
    --------
    >>> from symclust.metrics import region_covering
    >>> region_covering([[0, 0, 1, 1], [0, 0, 1, 1]], [[0, 0, 1, 2], [0, 0, 1, 2]])
    0.75
    """
    counts = _overlaps(labels_true, labels_pred)
    true, found = counts.sum(axis=1), counts.sum(axis=0)
    rows, columns = counts.coords
    best = np.zeros(len(true))
    np.maximum.at(best, rows, counts.data / (true[rows] + found[columns] - counts.data))
    return float(true @ best / true.sum())


def variation_of_information(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Information that two segmentations do not share, in bits: a distance.

    .. math:: VI(S, S') = H(S|S') + H(S'|S)

    (Meilă 2007), with logarithms to base 2 as in the Berkeley benchmark.

    Parameters
    ----------
    labels_true, labels_pred : array-like of one shape
        The region of each pixel. The labels need not be the same; −1 is one more region.

    Returns
    -------
    float
        From 0, for equal regions, to 2 log2 of the number of pixels. For several annotators take the mean
        over them.

    Examples
    --------
    >>> from symclust.metrics import variation_of_information
    >>> variation_of_information([[0, 0, 1, 1]], [[0, 1, 0, 1]])
    2.0
    >>> variation_of_information(["sky", "sky", "sea"], [5, 5, 2])
    0.0
    """
    counts = _overlaps(labels_true, labels_pred)
    true, found = counts.sum(axis=1), counts.sum(axis=0)
    rows, columns = counts.coords
    unknown = xlogy(counts.data, true[rows] / counts.data) + xlogy(counts.data, found[columns] / counts.data)
    return float(unknown.sum() / (np.log(2) * true.sum()))


def _overlaps(labels_true: ArrayLike, labels_pred: ArrayLike) -> Any:
    """Numbers of pixels that each true region has in common with each one found, sparse."""
    S, T = np.asarray(labels_true), np.asarray(labels_pred)
    if S.shape != T.shape or S.size == 0:
        raise InputError(
            f"labels_true has shape {S.shape} and labels_pred {T.shape}; expected two of one shape, with a "
            "region for each pixel."
        )
    return coo_array(contingency_matrix(S.ravel(), T.ravel(), sparse=True, dtype=np.float64))


def _share(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.ones(len(whole)), where=whole > 0)


def _read_detection(boundary: ArrayLike) -> tuple[Array, bool]:
    """The probability of a boundary at each pixel, and whether it was given as a map of bools."""
    P = np.asarray(boundary)
    if P.ndim != 2 or P.size == 0 or P.dtype.kind not in "biuf":
        raise InputError(
            f"The boundary has shape {P.shape} and dtype {P.dtype}; expected an image of rows × columns, of "
            "bools or of probabilities."
        )
    if not (P.min() >= 0 and P.max() <= 1):  # also where one is NaN
        raise InputError(
            f"The boundary has values from {P.min()} to {P.max()}; expected bools, or probabilities from 0 "
            "to 1 without NaN. Divide by 255 what comes from an image file; of regions, give "
            "boundary_map(labels)."
        )
    return P, P.dtype.kind == "b"


def _read_truths(boundaries_true: Any, shape: tuple[int, ...] | None) -> list[Array]:
    """The map of each annotator, all of one shape."""
    listed = isinstance(boundaries_true, Sequence | Array) and len(boundaries_true) > 0
    several = listed and np.ndim(boundaries_true[0]) == 2
    maps = [np.asarray(drawn) for drawn in (boundaries_true if several else [boundaries_true])]
    shape = maps[0].shape if shape is None else shape
    for number, drawn in enumerate(maps):
        if drawn.shape != shape or drawn.ndim != 2:
            raise InputError(
                f"The boundaries of annotator {number} have shape {drawn.shape}; expected {shape}, that of "
                "the image."
            )
        if drawn.dtype.kind not in "biuf" or not np.isin(drawn, (0, 1)).all():
            raise InputError(
                f"The boundaries of annotator {number} hold {drawn.dtype} other than True and False or 1 and "
                "0. Of regions, give boundary_map(labels)."
            )
    return [drawn.astype(bool) for drawn in maps]


def _read_thresholds(thresholds: int | ArrayLike) -> Array:
    if np.ndim(thresholds) == 0:
        check_number("thresholds", thresholds, least=1, whole=True)
        n = int(np.asarray(thresholds))
        return np.arange(1, n + 1) / (n + 1)
    levels = np.asarray(thresholds, dtype=np.float64)
    if levels.ndim != 1 or levels.size == 0 or not (levels.min() > 0 and levels.max() <= 1):
        raise OptionError(f"thresholds={thresholds!r} must be numbers above 0 and at most 1, or how many.")
    return levels


def _count_matches(truths: list[Array], B: Array, reach: float) -> tuple[int, int, int]:
    """Numbers of detected pixels that are right, of all detected ones, and of true ones matched."""
    pixels = np.flatnonzero(np.pad(B, int(reach)))
    right, matched = np.zeros(len(pixels), dtype=bool), 0
    for truth in truths:
        here = maximum_bipartite_matching(_candidates(pixels, truth, reach), perm_type="column") >= 0
        right |= here
        matched += int(here.sum())
    return int(right.sum()), len(pixels), matched


def _candidates(pixels: Array, truth: Array, reach: float) -> csr_array:
    """The true pixels within reach of each detected one, the nearest first.

    `pixels` are numbers of pixels in the image with a frame as wide as the reach: no offset leaves it.
    """
    width = int(reach)
    drawn = np.pad(truth, width).ravel()
    numbers = np.where(drawn, np.cumsum(drawn, dtype=np.int32) - 1, -1)
    near = [numbers[pixels + shift] for shift in _disk(reach, truth.shape[1] + 2 * width)]
    rows = np.concatenate([np.flatnonzero(found >= 0) for found in near])
    columns = np.concatenate([found[found >= 0] for found in near])
    order = np.argsort(rows, kind="stable")
    starts = np.cumsum(np.bincount(rows + 1, minlength=len(pixels) + 1))
    edges = np.ones(len(rows), dtype=np.int8), columns[order], starts.astype(np.int32)
    return csr_array(edges, shape=(len(pixels), np.count_nonzero(truth)))


@lru_cache(maxsize=16)
def _disk(reach: float, row: int) -> list[int]:
    """Offsets of the pixels within reach in the memory of an image with rows this long, nearest first."""
    steps = range(-int(reach), int(reach) + 1)
    distances = {(y, x): np.hypot(y, x) for y, x in product(steps, steps)}
    within = [step for step, distance in distances.items() if distance <= reach * (1 + 1e-12)]
    return [y * row + x for y, x in sorted(within, key=distances.__getitem__)]


def _thinned(B: Array) -> Array:
    """The pixels left when lines are thinned to one pixel: Guo and Hall 1989, as bwmorph does.

    Each pass looks at the eight neighbours of pixels that are still there, as the bits of one number.
    """
    B = np.pad(B, 1)
    flat, row = B.ravel(), B.shape[1]
    shifts = [y * row + x for y, x in AROUND]
    while True:
        before = pixels = np.flatnonzero(flat)
        for removable in _removable():
            neighbours = sum(flat[pixels + shift].astype(np.uint8) << bit for bit, shift in enumerate(shifts))
            flat[pixels[removable[neighbours]]] = False
            pixels = np.flatnonzero(flat)
        if len(pixels) == len(before):
            return B[1:-1, 1:-1]


@cache
def _removable() -> tuple[Array, Array]:
    """For the two halves of a pass which of the 256 neighbourhoods let a pixel go."""
    x = (np.arange(256)[:, np.newaxis] >> np.arange(8) & 1).astype(bool).T  # x[0] is right, then as AROUND
    pairs = range(0, 8, 2)
    crossings = sum((~x[i] & (x[i + 1] | x[(i + 2) % 8])).astype(int) for i in pairs)
    one_way = sum((x[i - 1] | x[i]).astype(int) for i in pairs)
    other_way = sum((x[i] | x[i + 1]).astype(int) for i in pairs)
    line = (crossings == 1) & (np.minimum(one_way, other_way) >= 2) & (np.minimum(one_way, other_way) <= 3)
    return line & ~((x[1] | x[2] | ~x[7]) & x[0]), line & ~((x[5] | x[6] | ~x[3]) & x[4])
