"""Rows of the page about clusters and their tree: sizes, terms, typical and doubtful members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

import numpy as np

from symclust._types import Array
from symclust.describe import Trait, are_words
from symclust.report._findings import percent
from symclust.report._pictures import as_pixels, grey_picture
from symclust.report._reading import Overview, members_of, node_terms

OPEN_SPLITS = 30  # the page begins with this many splits unfolded, those of the largest branches
N_TERMS = 8  # of a node
MOST_NODES = 3000  # of a tree; the page holds those of the first splits
MOST_CLUSTERS = 200  # described one by one: the largest
N_NAMES = 5  # members listed beside a node that has no terms
LONGEST = 90  # characters of a name that are shown


def clipped(text: object, length: int = LONGEST) -> str:
    """A text that is not too long to be shown."""
    shown = str(text)
    return shown if len(shown) <= length else shown[: length - 1] + "…"


@dataclass(frozen=True)
class Member:
    """A sample as it is shown with its cluster; a doubtful one has a `rival`, where it could be as well."""

    name: str
    picture: str = ""
    rival: str = ""
    colour: str = ""


@dataclass(frozen=True)
class ClusterRow:
    """A row about one cluster; widths of bars are in percent of the largest cluster's."""

    number: int
    name: str
    colour: str
    size: int
    share: str
    clear: str
    clear_width: float
    doubtful_width: float
    mostly: str = ""
    title: str = ""
    picture: str = ""  # the mean of its members
    words: str = ""
    traits: list[dict[str, str]] = field(default_factory=list)
    openings: Sequence[str] = ()  # first words of typical texts
    lists: bool = True  # whether members are listed
    typical: list[Member] = field(default_factory=list)
    doubtful: list[Member] = field(default_factory=list)


def cluster_rows(clustering: Overview, n_members: int, pixels: Array | None) -> list[ClusterRow]:
    """One row for each of the largest clusters, in the order of their numbers."""
    largest = np.argsort(-clustering.sizes, kind="stable")[:MOST_CLUSTERS]
    order = np.argsort(clustering.labels, kind="stable")
    bounds = np.searchsorted(clustering.labels[order], np.arange(clustering.n_clusters + 1))
    return [
        _row(clustering, c, order[bounds[c] : bounds[c + 1]], n_members, pixels)
        for c in np.sort(largest).tolist()
    ]


def _row(clustering: Overview, c: int, members: Array, n_members: int, pixels: Array | None) -> ClusterRow:
    belonging = clustering.belonging
    size, top = len(members), max(1, int(clustering.sizes.max()))
    n_clear = size if belonging is None else int(np.count_nonzero(belonging.is_clear[members]))
    first = _most_typical(clustering, members, n_members)
    torn = np.empty(0, np.intp) if belonging is None else belonging.doubtful(members, (n_members + 1) // 2)
    told = clustering.description[c]
    picture = _mean_picture(told.picture, members, pixels)
    traits = [_shown(trait) for trait in told.traits if trait.distribution is not None and not picture]
    # Numbers of members say less than columns.
    is_text = clustering.nouns.sample == "document" and bool(told.typical)
    says_less = traits or told.picture is not None or is_text
    shows = pixels is not None or not says_less or are_words(clustering.names)
    shows = shows and clustering.nouns.sample != "pixel"
    return ClusterRow(
        number=c,
        name=clipped(clustering.name_of_cluster(c), 40),
        colour=clustering.colour_of(c),
        size=size,
        share=percent(size / max(1, clustering.n_samples)),
        clear="" if belonging is None or not size else percent(n_clear / size),
        clear_width=100 * n_clear / top,
        doubtful_width=100 * (size - n_clear) / top,
        mostly="" if clustering.classes is None else _mostly(clustering.classes[members]),
        title="" if clustering.cluster_names is not None else clipped(told.name),
        picture=picture,
        words=", ".join(clipped(t.words, 120) for t in told.traits if t.words and t.distribution is None),
        traits=traits,
        openings=told.typical if is_text else (),
        typical=[_member(clustering, i, pixels) for i in first.tolist()] if shows and not is_text else [],
        doubtful=[_member(clustering, i, pixels, torn=True) for i in torn.tolist()] if shows else [],
        lists=shows,
    )


def _mean_picture(found: Array | None, members: Array, pixels: Array | None) -> str:
    """The mean of the members, as pictures that were given or as those that the columns hold."""
    if pixels is not None and len(members):
        return grey_picture(pixels[members].mean(axis=0).round().astype(np.uint8))
    return "" if found is None else grey_picture(as_pixels(found[np.newaxis], 1)[0])


def _shown(trait: Trait) -> dict[str, str]:
    """A column as the page shows it: name, values, and two lines along its bins."""
    inside, outside = trait.distribution or ((), ())
    top = max(*inside, *outside, 1e-9)
    words = trait.words.removeprefix(trait.column).strip()
    return {
        "column": clipped(trait.column, 40),
        "words": words,
        "inside": _along(inside, top),
        "outside": _along(outside, top),
    }


def _along(shares: Sequence[float] | Array, top: float) -> str:
    """The outline of a distribution as the points of a polygon, 60 × 16."""
    step = 60 / max(len(shares), 1)
    points = [
        f"{step * i:.0f},{16 - 15 * v / top:.1f} {step * (i + 1):.0f},{16 - 15 * v / top:.1f}"
        for i, v in enumerate(shares)
    ]
    return f"0,16 {' '.join(points)} 60,16"


def _most_typical(clustering: Overview, members: Array, count: int) -> Array:
    if clustering.belonging is not None:
        return clustering.belonging.typical(members, count)
    return members[:count]


def _member(clustering: Overview, i: int, pixels: Array | None, *, torn: bool = False) -> Member:
    rival = -1 if not torn or clustering.belonging is None else int(clustering.belonging.rival[i])
    return Member(
        name=clipped(clustering.name_of(i)),
        picture="" if pixels is None else grey_picture(pixels[i]),
        rival=clipped(clustering.name_of_cluster(rival), 24) if rival >= 0 else "",
        colour=clustering.colour_of(rival) if rival >= 0 else "",
    )


def _mostly(classes: Array) -> str:
    """The most frequent class and its share."""
    if not len(classes):
        return ""
    names, counts = np.unique(classes, return_counts=True)
    best = counts.argmax()
    return f"{clipped(names[best], 40)} ({counts[best] / len(classes):.0%})"


@dataclass(frozen=True)
class TreeRow:
    """A node. Its children are the rows after it, down to where `n_closed` ends its list."""

    label: int | None
    colour: str
    size: int
    is_leaf: bool
    is_open: bool
    n_closed: int  # lists of children that end after this row
    words: list[str]
    mostly: str
    examples: list[tuple[str, str]]  # name and beginning of typical documents


def tree_rows(clustering: Overview, feature_names: Sequence[object] | None) -> list[TreeRow]:
    """One row for each node, from the root down and from left to right."""
    leaves = iter(range(len(clustering.nodes)))
    labels = {node.number: next(leaves) for node in clustering.nodes if node.is_leaf}
    nodes = [node for node in clustering.nodes if node.number < MOST_NODES]
    depths = [*(node.depth for node in nodes), 0]
    opened = _opened(nodes)
    return [
        _tree_row(clustering, node, labels.get(node.number), feature_names, max(0, depth - following), opened)
        for node, (depth, following) in zip(nodes, pairwise(depths), strict=True)
    ]


def _opened(nodes: Sequence[Any]) -> set[int]:
    """The splits that are unfolded: always the largest node that can be seen, so that parents come first."""
    by_number = {node.number: node for node in nodes}
    opened: set[int] = set()
    seen = [(-len(members_of(nodes[0])), nodes[0].number)] if nodes else []
    while seen and len(opened) < OPEN_SPLITS:
        node = by_number[heappop(seen)[1]]
        if not node.is_leaf and all(child in by_number for child in node.children):
            opened.add(node.number)
            for child in node.children:
                heappush(seen, (-len(members_of(by_number[child])), child))
    return opened


def _tree_row(
    clustering: Overview,
    node: Any,
    label: int | None,
    feature_names: Sequence[object] | None,
    n_closed: int,
    opened: set[int],
) -> TreeRow:
    members = members_of(node)
    first = min(node.children, default=0)
    is_leaf = node.is_leaf or first >= MOST_NODES
    examples = [] if not node.is_leaf else getattr(node, "examples", ())
    return TreeRow(
        label=label,
        colour="" if label is None else clustering.colour_of(label),
        size=len(members),
        is_leaf=is_leaf,
        is_open=node.number in opened,
        n_closed=n_closed,
        words=_node_words(clustering, node, label, members, feature_names),
        mostly="" if clustering.classes is None else _mostly(clustering.classes[members]),
        examples=[(clipped(e.name), clipped(e.excerpt, 240)) for e in examples],
    )


def _node_words(
    clustering: Overview, node: Any, label: int | None, members: Array, feature_names: Sequence[object] | None
) -> list[str]:
    if node.parent is None:  # nothing sets it apart
        return [f"all {clustering.nouns.sample}s"]
    words = [clipped(term, 40) for term in node_terms(node, N_TERMS, feature_names)]
    if not words and label is not None and clustering.description[label].name:
        return [clipped(clustering.description[label].name)]
    if not words and clustering.names is not None and clustering.belonging is not None:
        strongest = members[np.argsort(-clustering.belonging.strength[members], kind="stable")[:N_NAMES]]
        words = [clipped(clustering.name_of(i), 40) for i in strongest]
    return words
