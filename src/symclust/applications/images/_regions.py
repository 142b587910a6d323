"""Regions of an image: pieces that hang together, their neighbours, and the tree in which they join."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from symclust._optional import need
from symclust._types import Array
from symclust.hierarchy import Tree


class Border(NamedTuple):
    """A border between two regions: their numbers, its length in pixels, its mean strength."""

    first: Array
    second: Array
    length: Array
    strength: Array


def connected(labels: Array) -> Array:
    """The pieces of each label that hang together by sides of pixels, numbered from 0; −1 stays."""
    measure = need("skimage.measure", "images", "Dividing an image")
    pieces = measure.label(labels + 1, connectivity=1, background=0)
    return pieces.astype(np.intp) - 1


def borders(labels: Array, across: Array, down: Array) -> Border:
    """The borders between regions, with the mean of what stands between the pixels on both sides."""
    pairs = [
        (labels[:, :-1], labels[:, 1:], across[:, :-1]),
        (labels[:-1], labels[1:], down[:-1]),
    ]
    first, second, strength = (np.concatenate([pair[i].ravel() for pair in pairs]) for i in range(3))
    touching = (first != second) & (first >= 0) & (second >= 0)
    first, second, strength = first[touching], second[touching], strength[touching]
    n = int(labels.max()) + 1
    low, high = np.minimum(first, second).astype(np.int64), np.maximum(first, second)
    keys, place = np.unique(low * n + high, return_inverse=True)
    length = np.bincount(place, minlength=len(keys))
    total = np.bincount(place, strength, minlength=len(keys))
    return Border(keys // n, keys % n, length, total / np.maximum(length, 1))


class Merging:
    """Regions that join, always the two with the weakest border; borders of joined regions are averaged.

    Borders that were never there are added for regions that are said to belong together, with strength −1;
    regions that are said to be apart never join.
    """

    def __init__(self, border: Border, n: int, seeds: Array | None = None) -> None:
        self.seeds = np.full(n, -1) if seeds is None else seeds.copy()
        self.parent = list(range(n))
        self.around: list[dict[int, tuple[float, float]]] = [{} for _ in range(n)]
        for i, j, length, strength in zip(*(column.tolist() for column in border), strict=True):
            self.around[i][j] = self.around[j][i] = length, strength
        self.queue = [(s, i, j) for i, near in enumerate(self.around) for j, (_, s) in near.items() if i < j]
        heapify(self.queue)

    def join_seeded(self) -> list[tuple[int, int, float]]:
        """Join the regions of each seed, wherever they are."""
        done = []
        for seed in np.unique(self.seeds[self.seeds >= 0]):
            members = np.flatnonzero(self.seeds == seed).tolist()
            for other in members[1:]:
                first, second = self._find(members[0]), self._find(other)
                self._join(first, second)
                done.append((first, second, 0.0))
        return done

    def next(self) -> tuple[int, int, float] | None:
        """Join the two regions with the weakest border; return them and its strength, or None at the end."""
        while self.queue:
            strength, i, j = heappop(self.queue)
            current = self.around[i].get(j)
            if current is None or current[1] != strength or not self._may_join(i, j):
                continue
            self._join(i, j)
            return i, j, strength
        return None

    def _may_join(self, i: int, j: int) -> bool:
        return self.seeds[i] < 0 or self.seeds[j] < 0 or self.seeds[i] == self.seeds[j]

    def _find(self, i: int) -> int:
        while self.parent[i] != i:
            i = self.parent[i]
        return i

    def _join(self, i: int, j: int) -> None:
        """Give i all that j has."""
        self.parent[j] = i
        self.seeds[i] = max(self.seeds[i], self.seeds[j])
        near, gone = self.around[i], self.around[j]
        near.pop(j, None)
        gone.pop(i, None)
        for other, (length, strength) in gone.items():
            before, mean = near.get(other, (0.0, 0.0))
            total = before + length
            near[other] = self.around[other][i] = total, (mean * before + strength * length) / total
            self.around[other].pop(j)
            heappush(self.queue, (near[other][1], min(i, other), max(i, other)))
        self.around[j] = {}


def merge_order(border: Border, n: int, seeds: Array | None = None) -> list[tuple[int, int, float]]:
    """The joins of n regions in their order: (the one that stays, the one that goes, the strength).

    Regions with no border between them, such as those on two sides of a masked band, and regions of different
    seeds stay apart until all else has joined; the last joins then have strength 1.
    """
    merging = Merging(border, n, seeds)
    order = merging.join_seeded()
    while (joined := merging.next()) is not None:
        order.append(joined)
    roots = [i for i in range(n) if merging.parent[i] == i]
    return order + [(roots[0], other, 1.0) for other in roots[1:]]


def region_tree(leaves: Array, order: list[tuple[int, int, float]]) -> Tree:
    """The joins, read backwards, as splits of the whole image. Samples are pixels.

    The strength of a node's split, never less than that of the splits below it, is its `score`. Pixels that
    are not there are in no leaf. The members of nodes are parts of one array, so that memory does not grow
    with depth.
    """
    flat = leaves.ravel()
    line, first_place = _side_by_side(order, flat)
    tree = Tree(len(flat))
    heights = np.maximum.accumulate([0.0, *(strength for *_, strength in order)])[1:]
    number, end = {order[-1][0] if order else 0: 0}, {order[-1][0] if order else 0: len(line)}
    for (stays, goes, _), height in zip(reversed(order), reversed(heights.tolist()), strict=True):
        begin, middle, last = first_place[stays], first_place[goes], end[stays]
        tree.nodes[number[stays]].score = height
        left, right = tree.split(number[stays], [line[begin:middle], line[middle:last]])
        number[stays], number[goes] = left.number, right.number
        end[stays], end[goes] = middle, last
    return tree


def _side_by_side(order: list[tuple[int, int, float]], flat: Array) -> tuple[Array, dict[int, int]]:
    """The pixels so that all regions that ever join are side by side, and where each begins.

    A region that goes stands right behind all that the one that stays had until then.
    """
    n = int(flat.max()) + 1
    last, following = list(range(n)), [-1] * n  # chains of regions: the last of each, and the next in line
    for stays, goes, _ in order:
        following[last[stays]] = goes
        last[stays] = last[goes]
    members, place, begin = _members(flat, n), {}, 0
    region = order[-1][0] if order else 0
    chain = []
    while region >= 0:
        place[region] = begin
        begin += len(members[region])
        chain.append(members[region])
        region = following[region]
    return np.concatenate(chain), place


def _members(flat: Array, n: int) -> list[Array]:
    inside = np.flatnonzero(flat >= 0)
    order = inside[np.argsort(flat[inside], kind="stable")]
    return np.split(order, np.cumsum(np.bincount(flat[inside], minlength=n))[:-1])


def ultrametric(leaves: Array, border: Border, order: list[tuple[int, int, float]]) -> Array:
    """At each pixel on a border how strong it is in the tree: the height at which its two sides join.

    Thresholding this image gives the borders of a cut of the tree, whatever the threshold.
    """
    touching: list[set[int]] = [set() for _ in range(int(leaves.max()) + 1)]
    for number, (i, j) in enumerate(zip(border.first.tolist(), border.second.tolist(), strict=True)):
        touching[i].add(number)
        touching[j].add(number)
    heights, height = np.zeros(len(border.first), dtype=np.float32), 0.0
    for stays, goes, strength in order:
        height = max(height, strength)
        heights[list(touching[stays] & touching[goes])] = height
        touching[stays] ^= touching[goes]
    strength_image = np.zeros(leaves.shape, dtype=np.float32)
    strength_image[:, :-1] = _looked_up(leaves[:, :-1], leaves[:, 1:], border, heights)
    strength_image[:-1] = np.maximum(
        strength_image[:-1], _looked_up(leaves[:-1], leaves[1:], border, heights)
    )
    return strength_image


def _looked_up(first: Array, second: Array, border: Border, heights: Array) -> Array:
    """The height of the border between pixels, 0 if they are in one region or not there."""
    n = int(border.second.max(initial=0)) + 1  # the two largest numbers of `leaves` may touch nothing
    keys = np.minimum(first, second).astype(np.int64) * n + np.maximum(first, second)
    known = border.first.astype(np.int64) * n + border.second  # ascending, as `borders` makes them
    place = np.minimum(np.searchsorted(known, keys), max(len(known) - 1, 0))
    apart = (first != second) & (first >= 0) & (second >= 0)
    return np.where(apart, heights[place] if len(heights) else 0, 0)


def join_small(labels: Array, across: Array, down: Array, smallest: int, kept: Array | None = None) -> Array:
    """Connected regions of at least so many pixels; smaller ones join across their weakest border.

    Regions that are `kept` join no other, however small; others may join them.
    """
    regions = connected(labels)
    stays = np.zeros(labels.shape, dtype=bool) if kept is None else (labels >= 0) & kept[labels]
    while True:
        sizes = np.bincount(regions[regions >= 0], minlength=1)
        small = sizes < smallest
        small[regions[stays]] = False
        border = borders(regions, across, down)
        if not small.any() or len(border.first) == 0:
            return regions
        target = _weakest_neighbour(border, small, len(sizes))
        if (target == np.arange(len(sizes))).all():
            return regions
        joined = np.where(regions >= 0, target[regions], -1)
        regions = connected(joined)


def _weakest_neighbour(border: Border, small: Array, n: int) -> Array:
    """The region that each small one joins; of two that would swap places one stays."""
    first = np.concatenate([border.first, border.second])
    second = np.concatenate([border.second, border.first])
    strength = np.tile(border.strength, 2)
    order = np.lexsort((second, strength, first))
    chosen: Array = np.arange(n)
    owners, place = np.unique(first[order], return_index=True)
    chosen[owners] = second[order][place]
    target = np.where(small, chosen, np.arange(n))
    ends = sparse.csr_array((np.ones(n), (np.arange(n), target)), shape=(n, n))
    _, component = sparse.csgraph.connected_components(ends, directed=False)
    return component


def crack_shares(segmentations: list[Array]) -> tuple[Array, Array]:
    """The shares of the segmentations that put each pixel and the one right of it, or below, apart."""
    across, down = (np.zeros(segmentations[0].shape, dtype=np.float32) for _ in range(2))
    for labels in segmentations:
        across[:, :-1] += labels[:, :-1] != labels[:, 1:]
        down[:-1] += labels[:-1] != labels[1:]
    return across / len(segmentations), down / len(segmentations)


def common_refinement(segmentations: list[Array]) -> Array:
    """The pieces that no segmentation divides, numbered from 0; −1 where the first has −1."""
    keys: Any = np.zeros(segmentations[0].size, dtype=np.int64)
    for labels in segmentations:
        combined = keys * (int(labels.max()) + 2) + labels.ravel() + 1
        _, keys = np.unique(combined, return_inverse=True)
    there = segmentations[0] >= 0
    return connected(np.where(there, keys.reshape(there.shape), -1))
