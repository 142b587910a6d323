"""From an image to its regions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import ndimage
from sklearn.utils import check_random_state

from symclust._optional import need
from symclust._types import Array, Image, RandomState
from symclust.applications.images._regions import (
    borders,
    common_refinement,
    connected,
    crack_shares,
    join_small,
    merge_order,
    region_tree,
    ultrametric,
)
from symclust.applications.images._segmentations import WAYS, PixelGraph, segmentations
from symclust.applications.images.segmentation import Segmentation, enlarged, masked_like
from symclust.exceptions import DegenerateWarning, InputError, InterruptedWarning, OptionError, warn
from symclust.graphs import (
    Barriers,
    Picture,
    as_picture,
    compare_basins,
    compare_pixels,
    find_barriers,
    pixel_edges,
)
from symclust.hierarchy import Tree
from symclust.metrics import boundary_map
from symclust.selection import Curve, Progress, Selection
from symclust.storage import refuse_checkpoint
from symclust.validation import check_known, check_number

__all__ = ["segment_image"]

UNITS = ("basins", "pixels")
# What each preset compares: radius, density and the largest number of pixels.
PRESETS = {"full": (20.0, 1.0, 40_000), "fast": (20.0, 0.1, 40_000), "large": (20.0, 0.1, 250_000)}
# A region below this share of the image, or this number of pixels, is joined with a neighbour.
SMALLEST, FEWEST = 0.0005, 20
SHARED = 0.2  # weight of the segmentations in the strength of a border, against what the image itself shows
THRESHOLD = 0.25  # strength of the borders that stay where the number of regions is not given


def segment_image(
    image: Image,
    n_segments: int | str | None = "auto",
    *,
    way: str = "clusters",
    unit: str = "basins",
    preset: str = "full",
    radius: float | None = None,
    density: float | None = None,
    max_pixels: int | None = None,
    max_clusters: int = 16,
    n_superpixels: int = 51,
    edge_scale: float = 0.05,
    min_size: int | None = None,
    hints: Image = None,
    mask: Image = None,
    channels: str = "auto",
    random_state: RandomState = None,
    callback: Callable[[Any], object] | None = None,
) -> Segmentation:
    """Divide an image into regions that people would draw (Kuang, Yun and Park 2015, section 8).

    Pixels are compared with those around them (`graphs.pixel_affinity`), the similarities are factored many
    times, and each factor gives a segmentation. Borders that many of these share, and that the image shows,
    are strong; regions are joined across the weakest border first, which makes a tree of regions. It is cut
    at `n_segments`, or where borders get too weak to believe.

    Parameters
    ----------
    image : array of shape (rows, columns) or (rows, columns, n_channels), or PIL image
        Grey, RGB or RGBA, of 8 or 16 bits or float, or a stack of bands. NaN and masked pixels are left out.
    n_segments : int or "auto", default="auto"
        The number of regions, each of one piece. "auto", or None, keeps all borders that are strong enough;
        `selection_` of the answer shows how strong they are.
    way : {"clusters", "embedding", "spectral_clusters", "spectral_embedding"}, default="clusters"
        How segmentations are made. "clusters": SymNMF with 2 to `max_clusters` clusters, each a segmentation.
        "embedding": rows of H with `max_clusters` columns are grouped into superpixels, whose contracted
        graph (26) is split one step after the other; finds more detail. The other two are their spectral
        twins, for comparison.
    unit : {"basins", "pixels"}, default="basins"
        What is clustered. Pixels that no edge divides form a basin of the watershed; factoring under the
        constraint that basins stay whole is much faster and does not cut flat areas into pieces. "pixels"
        lets every pixel go its own way, as in the paper.
    preset : {"full", "fast", "large"}, default="full"
        "full": all pixels in a disk, in an image of at most 40,000 pixels. "fast": a fifth of them.
        "large": the same in an image of at most 250,000 pixels. `radius`, `density` and `max_pixels` replace
        what the preset says; larger images are compared in a smaller size, and the labels brought back.
    radius, density : float, default=None
        As in `graphs.pixel_affinity`: 20 and 1 for "full".
    max_pixels : int, default=None
        The size in which an image is compared at most. With unit="pixels" a pixel takes
        8 bytes × π · radius², and with a low density 2 · density of that; basins need no such memory.
    max_clusters : int, default=16
        The largest number of clusters, or the number of columns of the embedding.
    n_superpixels : int, default=51
        Superpixels of the two embeddings.
    edge_scale : float, default=0.05
        As in `graphs.pixel_affinity`; smaller values follow weaker edges.
    min_size : int, default=None
        Regions of fewer pixels, in the size in which the image is compared, are joined with a neighbour; None
        is 0.05 % of the image, and at least 20.
    hints : array-like of int of shape (rows, columns), or sequence of (row, column, number), default=None
        What is known of some pixels: those with the same number belong to one region, which may then have
        several pieces, those with different numbers to different ones; −1 if nothing is known.
    mask : array-like of bool of shape (rows, columns), default=None
        True at pixels to be left out.
    channels : {"auto", "stack"}, default="auto"
        "auto" reads three channels as RGB, and the last of two or four as opacity; "stack" reads all as
        bands.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.
    callback : callable, default=None
        Called with an object that has `done`, `total`, `stage` and `seconds`.

    Returns
    -------
    Segmentation
        Its `labels` have the shape of the image. Ctrl-C keeps the segmentations that were made, and raises
        KeyboardInterrupt before there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import segment_image
    >>> image = np.full((60, 80), 0.2)
    >>> image[20:45, 25:55] = 0.8  # a bright box on dark ground
    >>> answer = segment_image(image, random_state=0)
    >>> answer.n_segments, bool(answer.labels[0, 0] != answer.labels[30, 40])
    (2, True)
    """
    options = _Options.read(
        preset, radius, density, max_pixels, way, unit, max_clusters, n_superpixels, min_size
    )
    if n_segments is None or isinstance(n_segments, str):
        check_known("n_segments", n_segments or "auto", ("auto",), ", or give a number")
        n_segments = None
    else:
        check_number("n_segments", n_segments, least=1, whole=True)
    refuse_checkpoint(callback, "segment_image")
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    given = as_picture(image, mask, channels)
    known = _read_hints(hints, given.shape)
    _check_enough(n_segments, known)
    picture, known = _shrunk(given, known, options.max_pixels)
    if picture.is_constant or picture.valid.sum() == 1:
        return _one_region(given, picture, n_segments)
    progress = _Stages(callback, time.perf_counter())
    progress.at("edges", 0, 1)
    barriers = _with_hints(find_barriers(pixel_edges(picture), picture.valid), known)
    graph = _graph(picture, barriers, options, edge_scale, known, progress)
    found = _images(graph, picture, options, seed, progress)
    smallest = options.min_size or max(FEWEST, round(SMALLEST * picture.valid.size))
    regions = _regions(found, barriers, graph.by_pixel, smallest, known)
    return _answer(given, picture, found, regions, n_segments)


@dataclass(frozen=True)
class _Options:
    radius: float
    density: float
    max_pixels: int
    way: str
    unit: str
    max_clusters: int
    n_superpixels: int
    min_size: int | None

    @classmethod
    def read(
        cls, preset: str, radius: Any, density: Any, max_pixels: Any, way: Any, unit: Any, *rest: Any
    ) -> _Options:
        check_known("preset", preset, tuple(PRESETS))
        check_known("way", way, WAYS)
        check_known("unit", unit, UNITS)
        max_clusters, n_superpixels, min_size = rest
        check_number("max_clusters", max_clusters, least=2, whole=True)
        check_number("n_superpixels", n_superpixels, least=2, whole=True)
        if min_size is not None:
            check_number("min_size", min_size, least=1, whole=True)
        if max_pixels is not None:
            check_number("max_pixels", max_pixels, least=16, whole=True)
        usual = PRESETS[preset]
        chosen = [
            default if one is None else one
            for one, default in zip((radius, density, max_pixels), usual, strict=True)
        ]
        return cls(chosen[0], chosen[1], int(chosen[2]), way, unit, max_clusters, n_superpixels, min_size)


@dataclass(frozen=True)
class _Stages:
    """The stages of the work, reported to the callback."""

    callback: Callable[[Any], object] | None
    start: float

    def at(self, stage: str, done: int, total: int) -> None:
        if self.callback is not None:
            self.callback(Progress(done, total, stage, time.perf_counter() - self.start))


# What was given ---------------------------------------------------------------------------------------------


def _read_hints(hints: Any, shape: tuple[int, int]) -> Array | None:
    """Hints as an image of numbers from 0 on, −1 if nothing is known."""
    if hints is None:
        return None
    array = np.asarray(hints)
    if array.dtype.kind not in "iu" or array.ndim != 2:
        raise InputError(
            f"hints has shape {array.shape} and type {array.dtype}; expected whole numbers of the image's "
            f"shape {shape}, or a list of (row, column, number)."
        )
    if array.shape != shape:
        array = _placed_hints(array, shape)
    numbers, place = np.unique(array[array >= 0], return_inverse=True)
    if len(numbers) == 0:
        return None
    known = np.full(shape, -1, dtype=np.intp)
    known[array >= 0] = place
    return known


def _check_enough(n_segments: int | None, known: Array | None) -> None:
    n_hints = 0 if known is None else int(known.max()) + 1
    if n_segments is not None and n_segments < n_hints:
        raise OptionError(
            f"n_segments={n_segments} is not possible: the hints tell {n_hints} regions apart. Give at least "
            "that number, or fewer hints."
        )


def _placed_hints(triples: Array, shape: tuple[int, int]) -> Array:
    if triples.shape[1] != 3:
        raise InputError(
            f"hints has shape {triples.shape}; expected the image's shape {shape}, or rows of "
            "(row, column, number)."
        )
    rows, columns, numbers = triples.T
    outside = (rows < 0) | (columns < 0) | (rows >= shape[0]) | (columns >= shape[1])
    if outside.any():
        row, column, _ = triples[outside][0]
        raise InputError(
            f"The hint at ({row}, {column}) lies outside the image of {shape[0]} × {shape[1]} pixels."
        )
    array = np.full(shape, -1, dtype=np.intp)
    array[rows, columns] = numbers
    return array


def _shrunk(picture: Picture, known: Array | None, most: int) -> tuple[Picture, Array | None]:
    """The image in at most so many pixels, by averages; hints go to the pixel they fall into."""
    rows, columns = picture.shape
    if rows * columns <= most:
        return picture, known
    resize = need("skimage.transform", "images", "Dividing an image").resize
    scale = np.sqrt(most / (rows * columns))
    shape = max(1, int(rows * scale)), max(1, int(columns * scale))
    weight = resize(picture.valid.astype(np.float32), shape, order=1, anti_aliasing=True)
    sums = resize(picture.channels, (*shape, picture.channels.shape[2]), order=1, anti_aliasing=True)
    valid = weight > 0.5
    channels = np.where(valid[:, :, None], sums / np.maximum(weight, 0.5)[:, :, None], 0)
    small = Picture(np.clip(channels, 0, 1).astype(np.float32), valid, picture.is_stack, picture.notes)
    if known is None:
        return small, None
    hinted = np.full(shape, -1, dtype=np.intp)
    y, x = np.nonzero(known >= 0)
    hinted[(y * shape[0]) // rows, (x * shape[1]) // columns] = known[y, x]
    return small, hinted


# From pixels to segmentations -------------------------------------------------------------------------------


def _with_hints(barriers: Barriers, known: Array | None) -> Barriers:
    """Divide basins that hold pixels of different hints: each of its pixels goes to the nearest hint."""
    if known is None:
        return barriers
    basins, count = barriers.basins.copy(), int(barriers.basins.max()) + 1
    nearest = ndimage.distance_transform_edt(known < 0, return_distances=False, return_indices=True)
    nearest_hint = known[tuple(nearest)]
    for basin in np.unique(basins[(known >= 0) & (basins >= 0)]):
        inside = basins == basin
        for hint in np.unique(known[inside & (known >= 0)])[1:]:
            basins[inside & (nearest_hint == hint)] = count
            count += 1
    return barriers._replace(basins=basins)


def _graph(
    picture: Picture,
    barriers: Barriers,
    options: _Options,
    edge_scale: float,
    known: Array | None,
    progress: _Stages,
) -> PixelGraph:
    progress.at("similarities", 0, 1)
    inside = picture.valid
    groups = barriers.basins[inside]
    E = None
    if options.unit == "pixels":
        E = compare_pixels(picture, barriers, options.radius, edge_scale, density=options.density)
        E = E[inside.ravel()][:, inside.ravel()]
    basins = compare_basins(picture, barriers, options.radius, edge_scale, options.density)
    allowed = None if known is None else _allowed(groups, known[inside])
    return PixelGraph(groups, *basins, E, allowed)


def _allowed(groups: Array, known: Array) -> Array:
    """A mask of the clusters of each basin: those with a hint may only be in that of their number."""
    allowed = np.ones((int(groups.max()) + 1, int(known.max()) + 1), dtype=bool)
    allowed[groups[known >= 0]] = False
    allowed[groups[known >= 0], known[known >= 0]] = True
    return allowed


def _images(
    graph: PixelGraph, picture: Picture, options: _Options, seed: int, progress: _Stages
) -> list[Array]:
    """The segmentations as images of labels, −1 if there is no pixel; Ctrl-C keeps those so far."""
    least = 2 if graph.allowed is None else max(2, graph.allowed.shape[1])
    most = max(options.max_clusters, least)
    total = most - least + 1 if options.way.endswith("clusters") else options.n_superpixels - 1
    found: list[Array] = []
    try:
        for labels in segmentations(graph, options.way, least, most, options.n_superpixels, seed):
            image = np.full(picture.shape, -1, dtype=np.int32)
            image[picture.valid] = labels
            found.append(image)
            progress.at("segmentations", len(found), max(total, len(found)))
    except KeyboardInterrupt:
        if not found:
            raise
        warn(
            f"segment_image was interrupted after {len(found)} of {total} segmentations: the regions rest on "
            "these alone.",
            InterruptedWarning,
        )
    return found


class _Regions(NamedTuple):
    tree: Tree
    leaves: Array
    strength: Array


def _regions(
    found: list[Array], barriers: Barriers, by_pixel: bool, smallest: int, known: Array | None
) -> _Regions:
    """The tree of regions. Its leaves are pieces that no segmentation divides."""
    across, down = crack_shares(found)
    between = _joined_strength(across, barriers.across), _joined_strength(down, barriers.down)
    divided = found if known is None else [*found, barriers.basins]  # basins were cut where hints differ
    pieces = common_refinement(divided) if by_pixel else connected(barriers.basins)
    hinted = None if known is None else _seeds_of(pieces, known) >= 0
    leaves = join_small(pieces, *between, smallest, hinted)
    seeds = None if known is None else _seeds_of(leaves, known)
    border = borders(leaves, *between)
    order = merge_order(border, int(leaves.max()) + 1, seeds)
    return _Regions(region_tree(leaves, order), leaves, ultrametric(leaves, border, order))


def _joined_strength(shared: Array, seen: Array) -> Array:
    """The strength of borders, as they are seen in the image and shared by segmentations.

    On the Berkeley images this, and the plain mean, were better than either alone, their product or its
    root. Of the two, this one does not believe in borders that nothing in the image shows: with more clusters
    than there are regions, flat areas have to be cut somewhere.
    """
    return (1 - SHARED) * np.minimum(seen, 1) + SHARED * shared


def _seeds_of(leaves: Array, known: Array) -> Array:
    seeds = np.full(int(leaves.max()) + 1, -1, dtype=np.intp)
    there = (known >= 0) & (leaves >= 0)
    seeds[leaves[there]] = known[there]
    return seeds


# The answer -------------------------------------------------------------------------------------------------


def _answer(
    given: Picture, picture: Picture, found: list[Array], regions: _Regions, n_segments: int | None
) -> Segmentation:
    tree = regions.tree
    heights = np.sort([node.score for node in tree.nodes if node.children])[::-1]
    most = len(heights) + 1
    selection = _choice(heights) if n_segments is None else None
    k = n_segments if selection is None else selection.n_clusters
    assert k is not None
    if k > most:
        raise OptionError(
            f"n_segments={n_segments} is not possible: the image has {most} regions of at least min_size "
            "pixels. Give a smaller number or min_size, or unit='pixels'."
        )
    labels = tree.cut(k).reshape(picture.shape)
    labels = np.where(regions.leaves < 0, -1, labels)
    full = enlarged(labels, given.shape)
    notes = list(given.notes)
    if picture is not given:
        notes.append(
            "The image was compared in {} × {} pixels, and the labels brought back.".format(*picture.shape)
        )
    if k == 1 and n_segments is None:
        notes.append("No border is strong enough to believe: the whole image is one region.")
    return Segmentation(
        labels=np.where(given.valid, full, -1),
        boundary_probability=np.mean([boundary_map(one) for one in found], axis=0).astype(np.float32),
        border_strength=regions.strength,
        tree=tree,
        image=given.as_colours(),
        segmentations=np.array(found),
        notes=notes,
        selection_=selection,
    )


def _choice(heights: Array) -> Selection:
    """The number of regions by the strengths of the borders in the tree, the strongest first."""
    k = 1 + int(np.count_nonzero(heights >= THRESHOLD))
    shown = heights[: max(2 * k, 10)]
    weakest = f"the weakest has {heights[k - 2]:.2f}" if k > 1 else "none is that strong"
    sentence = f"{k} region{'s' * (k != 1)}: borders of strength {THRESHOLD} or more are kept, and {weakest}."
    return Selection(
        n_clusters=k,
        method="border_strength",
        candidates=np.arange(1, len(shown) + 2),
        score="border strength",
        curves={"border strength": Curve(np.concatenate([[np.nan], shown]))},
        sentence=sentence,
    )


def _one_region(given: Picture, picture: Picture, n_segments: int | None) -> Segmentation:
    """The answer for an image without anything to tell its pixels apart."""
    if n_segments not in (None, 1):
        raise InputError(
            f"n_segments={n_segments} is not possible: all pixels of the image that can be used are equal."
        )
    warn("All pixels of the image are equal: it is one region.", DegenerateWarning)
    labels = np.where(picture.valid, 0, -1)
    return Segmentation(
        labels=masked_like(np.zeros(given.shape, dtype=np.intp), np.where(given.valid, 0, -1)),
        boundary_probability=np.zeros(picture.shape, dtype=np.float32),
        border_strength=np.zeros(picture.shape, dtype=np.float32),
        tree=Tree(labels.size),
        image=given.as_colours(),
        segmentations=labels[None],
        notes=[*given.notes, "All pixels are equal: the whole image is one region."],
        selection_=_choice(np.empty(0)) if n_segments is None else None,
    )
