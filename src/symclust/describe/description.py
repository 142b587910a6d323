"""A description of clusters: for a table, a terminal and a notebook."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain, count, zip_longest
from shutil import get_terminal_size
from typing import overload

import numpy as np

from symclust._optional import need
from symclust._text import showable
from symclust._types import Array, DataFrame

__all__ = ["ClusterDescription", "Description", "Trait"]

LONGEST_NAME, PARTS = 44, 3  # characters and traits of the name of a cluster
SHOWN = 6  # traits in a line
MOST_ROWS = 40  # clusters in a terminal and in a notebook: the largest
LARGEST_PICTURE = 16  # pixels on a side, in a terminal
BLOCKS = " ▄▀█"  # by the lower and the upper of two pixels
STYLE = "text-align:left;vertical-align:top;padding:.15em 1em .15em 0"


@dataclass(frozen=True, eq=False)
class Trait:
    """Something that sets a cluster apart.

    Attributes
    ----------
    words : str
        The whole of it, such as "age 71 (34)".
    short : str
        A part of the name of the cluster, such as "high age"; may be empty.
    column : str
        The column, term, gene or node that it is about.
    value : str
        The value of a category.
    inside, outside : float
        Typical value inside the cluster and in all others: a median, or a share; NaN if there is none.
    effect : float
        Cliff's δ: how much more probable a larger value is inside than outside, minus the reverse, from −1
        to 1. Of a share it is the difference of the two shares.
    distribution : tuple of two ndarrays, or None
        Shares of bins of the column, inside and outside.
    """

    words: str
    short: str = ""
    column: str = ""
    value: str = ""
    inside: float = np.nan
    outside: float = np.nan
    effect: float = np.nan
    distribution: tuple[Array, Array] | None = None


@dataclass(frozen=True, eq=False)
class ClusterDescription:
    """A cluster in words.

    Attributes
    ----------
    cluster : int
        Its number.
    name : str
        A few words; empty if nothing is known of the samples.
    size : int
        Number of samples.
    share : float
        Share of all samples.
    traits : tuple of Trait
        What sets it apart, the most telling first.
    typical : tuple of str
        Its most typical samples, by name or first words.
    picture : ndarray of shape (rows, columns), or None
        The mean of its samples, if these are pictures; larger is brighter.
    """

    cluster: int
    name: str
    size: int
    share: float
    traits: tuple[Trait, ...] = ()
    typical: tuple[str, ...] = ()
    picture: Array | None = None

    @property
    def words(self) -> str:
        """The traits in one line."""
        return ", ".join(trait.words for trait in self.traits[:SHOWN] if trait.words)

    @property
    def rest(self) -> str:
        """The traits that the name does not hold word by word."""
        known = self.name.split(", ")
        return ", ".join(t.words for t in self.traits[:SHOWN] if t.words and t.words not in known)


@dataclass(frozen=True, eq=False, repr=False)
class Description(Sequence[ClusterDescription]):
    """The clusters in words, in the order of their numbers; made by ``model.describe()``.

    ``print(description)`` shows it, and so does a notebook. It is a sequence of `ClusterDescription`.

    Attributes
    ----------
    clusters : list of ClusterDescription
    heading : str
        How many clusters there are, of how many samples.
    key : str
        How the words are to be read.
    """

    clusters: list[ClusterDescription]
    heading: str
    key: str = ""

    @overload
    def __getitem__(self, place: int) -> ClusterDescription: ...
    @overload
    def __getitem__(self, place: slice) -> list[ClusterDescription]: ...
    def __getitem__(self, place: int | slice) -> ClusterDescription | list[ClusterDescription]:
        return self.clusters[place]

    def __len__(self) -> int:
        return len(self.clusters)

    def to_dataframe(self) -> DataFrame:
        """Table with one row per cluster: name, size, share, sets_apart, typical."""
        pandas = need("pandas", "tables", "A table")
        rows = [
            (one.cluster, one.name, one.size, one.share, one.words, ", ".join(one.typical)) for one in self
        ]
        columns = ["cluster", "name", "size", "share", "sets_apart", "typical"]
        return pandas.DataFrame(rows, columns=columns).set_index("cluster")

    def traits_dataframe(self) -> DataFrame:
        """Table with one row per trait: cluster, column, value, inside, outside, effect."""
        pandas = need("pandas", "tables", "A table")
        columns = ["column", "value", "inside", "outside", "effect"]
        rows = [
            (one.cluster, *(getattr(trait, name) for name in columns))
            for one in self
            for trait in one.traits
            if trait.column
        ]
        return pandas.DataFrame(rows, columns=["cluster", *columns])

    def shown(self, most: int = MOST_ROWS) -> list[ClusterDescription]:
        """The largest clusters, in the order of their numbers if these are all."""
        return list(self) if len(self) <= most else sorted(self, key=lambda one: -one.size)[:most]

    def lines(self, width: int, most: int = MOST_ROWS) -> Iterator[str]:
        """Lines of at most so many characters about the largest clusters; only names begin at the margin."""
        if self.key:
            yield from textwrap.wrap(self.key, width)
        digits = max((len(str(one.cluster)) for one in self), default=1)
        indent = " " * (digits + 2)
        for one in self.shown(most):
            share = "<1%" if 0 < one.share < 0.005 else f"{one.share:.0%}"
            yield f"{one.cluster:<{digits}}  {showable(one.name) or '–'} · {one.size:,} ({share})"[:width]
            yield from (f"{indent}{line}" for line in _beside(one, width - len(indent)))
        if len(self) > most:
            yield f"and {len(self) - most:,} smaller ones"

    def __str__(self) -> str:
        return "\n".join([self.heading, *self.lines(max(50, get_terminal_size((100, 24)).columns))])

    def __repr__(self) -> str:
        return f"<Description: {self.heading}>"

    def _repr_html_(self) -> str:
        return f'<div class="symclust-description">{_text(self.heading)} {self.table_html()}</div>'

    def table_html(self) -> str:
        """A row for each of the largest clusters: number, name, size, and what sets it apart."""
        rows = "".join(
            f'<tr><td style="{STYLE}">{one.cluster}</td><td style="{STYLE}"><b>{_text(one.name)}</b></td>'
            f'<td style="{STYLE}">{one.size:,}</td><td style="{STYLE}">{_text(one.rest)}'
            f"{_typical(one)}</td></tr>"
            for one in self.shown()
        )
        left = len(self) - MOST_ROWS
        more = f"<div>and {left:,} smaller ones</div>" if left > 0 else ""
        return f'{_text(self.key)}<table style="border-collapse:collapse">{rows}</table>{more}'


def _typical(one: ClusterDescription) -> str:
    return f'<br><span style="opacity:.7">{_text(" · ".join(one.typical))}</span>' if one.typical else ""


def _beside(one: ClusterDescription, width: int) -> Iterator[str]:
    """Traits and typical samples in lines, beside the picture if there is one."""
    picture = [] if one.picture is None else [f"{line}  " for line in _blocks(one.picture)]
    taken = len(picture[0]) if picture else 0
    texts = (one.rest, f"typical: {' · '.join(one.typical)}" if one.typical else "")
    lines = [textwrap.wrap(showable(text), width - taken, break_on_hyphens=False) for text in texts]
    for drawn, line in zip_longest(picture, chain(*lines)):
        yield f"{drawn or ' ' * taken}{line or ''}".rstrip()


def _blocks(picture: Array) -> list[str]:
    """A picture as lines of blocks, two pixels high: what is brighter than half way is filled."""
    step = -(-max(picture.shape) // LARGEST_PICTURE)
    rows, columns = picture.shape
    padded = np.pad(picture, [(0, -rows % (2 * step)), (0, -columns % step)], "edge")
    small = padded.reshape(padded.shape[0] // step, step, -1, step).mean(axis=(1, 3))
    filled = (2 * small > small.min() + small.max()).astype(int)
    return [
        "".join(BLOCKS[place] for place in 2 * a + b) for a, b in zip(filled[::2], filled[1::2], strict=True)
    ]


def _text(text: str) -> str:
    return escape(showable(text))


def names_for(traits: Sequence[Sequence[Trait]]) -> list[str]:
    """A name for each cluster out of its first traits, no two the same if more traits tell them apart."""
    names = [_joined([trait.short for trait in own if trait.short], PARTS) for own in traits]
    for more in range(PARTS + 1, PARTS + 4):
        for c, own in enumerate(traits):
            if names[c] and names.count(names[c]) > 1:
                names[c] = _joined([trait.short for trait in own if trait.short], more, 2 * LONGEST_NAME)
    seen: set[str] = set()
    for c, name in enumerate(names):
        free = (one for one in chain([name], (f"{name} ({i})" for i in count(2))) if one not in seen)
        names[c] = next(free) if name else ""
        seen.add(names[c])
    return names


def _joined(parts: Sequence[str], most: int, longest: int = LONGEST_NAME) -> str:
    """The first parts that fit; one at least, if there is any."""
    taken: list[str] = []
    for part in dict.fromkeys(part if len(part) <= longest else part[: longest - 1] + "…" for part in parts):
        if len(taken) == most or (taken and len(", ".join([*taken, part])) > longest):
            break
        taken.append(part)
    return ", ".join(taken)
