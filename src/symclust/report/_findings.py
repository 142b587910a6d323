"""Findings in sentences, for a reader who was not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from symclust._text import showable
from symclust._types import Array
from symclust.metrics import clustering_accuracy
from symclust.report._belonging import LIKENESS
from symclust.report._reading import Overview

NUMBERS = [
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"
]  # fmt: skip
MOST_PAIRS = 5  # of clusters that run into each other, by name
MOST_MIXED = 4  # clusters that mix classes, by name
OVERLAP = 0.05  # of the members of two clusters: what is worth a sentence
MIXED = 0.75  # a cluster with less of its largest class mixes classes
CORELESS = BLURRED = 0.5


@dataclass(frozen=True)
class Finding:
    """A sentence, and the clusters it is about."""

    text: str
    clusters: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Findings:
    """A headline, facts, and doubts."""

    headline: str
    facts: list[str]
    doubts: list[Finding]


def find(clustering: Overview) -> Findings:
    """The sentences with which a page begins."""
    facts = [text for text in (_sizes(clustering), _sharpness(clustering), _inside(clustering)) if text]
    facts += _classes(clustering)
    if clustering.selection is not None:
        tried = np.asarray(clustering.selection.candidates)
        facts.append(
            f"The number was not given: it was chosen from the data, out of {tried.min()} to {tried.max()}."
        )
    return Findings(_headline(clustering), facts, list(_doubts(clustering)))


def percent(share: float) -> str:
    """A share as whole per cent, but "more than 99%" or "less than 1%" if it would round to all or none."""
    if 0.995 <= share < 1:
        return "more than 99%"
    return "less than 1%" if 0 < share < 0.01 else f"{share:.0%}"


def count(number: int) -> str:
    """A small number as a word."""
    return NUMBERS[number] if number < len(NUMBERS) else f"{number:,}"


def isolated(name: object) -> str:
    """Text of the user's that may run from right to left, kept from turning the sentence around it."""
    shown = showable(str(name))
    return f"\u2068{shown if len(shown) <= 60 else shown[:59] + '…'}\u2069"


def _listing(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _call(clustering: Overview, clusters: Sequence[int]) -> str:
    """Words such as "cluster 3" or "clusters 3 and 5", with names if the user gave some."""
    noun = clustering.nouns.cluster + "s" * (len(clusters) != 1)
    if clustering.cluster_names is None:
        return f"{noun} {_listing([str(c) for c in clusters])}"
    return f"{noun} {_listing([f'{c} ({isolated(clustering.cluster_names[c])})' for c in clusters])}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


# Facts ------------------------------------------------------------------------------------------------------


def _headline(clustering: Overview) -> str:
    found = int(np.count_nonzero(clustering.sizes))
    noun = clustering.nouns.cluster + "s" * (found != 1)
    return f"{_upper(count(found))} {noun} in {clustering.nouns.samples(clustering.n_samples)}."


def _sizes(clustering: Overview) -> str:
    filled = clustering.sizes[clustering.sizes > 0]
    if len(filled) < 2:
        return ""
    largest, smallest = int(clustering.sizes.argmax()), int(filled.min())
    if filled.max() == smallest:
        return f"Each holds {clustering.nouns.samples(smallest)}."
    share = percent(filled.max() / clustering.n_samples)
    return (
        f"The largest, {_call(clustering, [largest])}, holds {share} of all {clustering.nouns.sample}s; the "
        f"smallest has {smallest:,}."
    )


def _sharpness(clustering: Overview) -> str:
    belonging, placed = clustering.belonging, clustering.labels >= 0
    if clustering.n_clusters < 2 or not placed.any() or clustering.nouns.sample == "pixel":
        return ""
    if belonging is None:
        return (
            f"The model does not say how clearly a {clustering.nouns.sample} belongs to its "
            f"{clustering.nouns.cluster}."
        )
    share = float(belonging.is_clear[placed].mean())
    sure = percent(float(belonging.confidence[placed].mean()))
    samples, cluster = clustering.nouns.sample + "s", clustering.nouns.cluster
    if belonging.is_calibrated:
        found = int(np.count_nonzero(clustering.sizes))
        begin = f"If there are {count(found)}, about {sure} of the {samples} can be expected in the right one"
    else:
        begin = (
            f"On average {sure} of the memberships of a {clustering.nouns.sample} are in its own {cluster}"
        )
    if share < BLURRED:
        return (
            f"{begin}. They are blurred: only {percent(share)} of the {samples} stand clearly in one "
            f"{cluster}. There may be fewer {cluster}s, or the data may have no clear ones."
        )
    return f"{begin}; {percent(1 - share)} are in doubt between two {cluster}s."


def _inside(clustering: Overview) -> str:
    A = clustering.similarity
    if not clustering.is_network or not sparse.issparse(A) or clustering.n_clusters < 2:
        return ""
    inside, expected = inside_share(sparse.coo_array(A), clustering.labels)
    return (
        f"{_upper(percent(inside))} of the weight of all links lies inside {clustering.nouns.cluster}s; with "
        f"{clustering.nouns.cluster}s drawn at random it would be {percent(expected)}."
    )


def inside_share(A: sparse.coo_array, labels: Array) -> tuple[float, float]:
    """The share of the weight between different nodes that is inside clusters, and what chance gives.

    By chance, a link ends at a node with a probability that goes with the node's degree.
    """
    rows, columns = A.coords
    weights = np.where(rows != columns, np.maximum(A.data, 0), 0).astype(np.float64)
    total = weights.sum() or 1.0
    inside = weights[(labels[rows] == labels[columns]) & (labels[rows] >= 0)].sum()
    placed = labels[rows] >= 0
    volumes = np.bincount(labels[rows][placed], weights[placed], minlength=1)
    return float(inside / total), float(np.sum((volumes / total) ** 2))


def _classes(clustering: Overview) -> list[str]:
    if clustering.classes is None:
        return []
    if len(np.unique(clustering.classes)) == np.count_nonzero(clustering.sizes):
        share = clustering_accuracy(clustering.classes, clustering.labels)
        return [
            f"Matched one to one with the known classes, the {clustering.nouns.cluster}s agree with them for "
            f"{percent(share)} of the {clustering.nouns.sample}s."
        ]
    share = purity(clustering.classes, clustering.labels)
    return [
        f"If each {clustering.nouns.cluster} is named after its most frequent class, {percent(share)} of the "
        f"{clustering.nouns.sample}s get the right name."
    ]


def purity(classes: Array, labels: Array) -> float:
    """The share of samples that are of the largest class of their cluster."""
    placed = labels >= 0
    _, codes = np.unique(classes, return_inverse=True)
    pairs, counts = np.unique(np.column_stack([labels[placed], codes[placed]]), axis=0, return_counts=True)
    largest = np.zeros(int(labels.max(initial=-1)) + 1)
    np.maximum.at(largest, pairs[:, 0], counts)
    return float(largest.sum() / max(len(labels), 1))


# Doubts -----------------------------------------------------------------------------------------------------


def _doubts(clustering: Overview) -> Iterator[Finding]:
    yield from _dominant(clustering)
    yield from _overlapping(clustering)
    yield from _without_core(clustering)
    yield from _mixed(clustering)
    yield from _small(clustering)
    yield from _nowhere(clustering)
    yield from _unfinished(clustering)


def _dominant(clustering: Overview) -> Iterator[Finding]:
    sizes = clustering.sizes
    if np.count_nonzero(sizes) < 2:
        if clustering.n_clusters > 1 and sizes.any():
            yield Finding(f"Everything is in one {clustering.nouns.cluster}: nothing was separated.")
        return
    largest = int(sizes.argmax())
    share = sizes[largest] / clustering.n_samples
    if share >= 0.5 + 0.8 / np.count_nonzero(sizes):  # of two 90 %, of many more than half
        name = _upper(_call(clustering, [largest]))
        yield Finding(
            f"{name} holds {percent(share)} of all {clustering.nouns.sample}s: look at it before you trust "
            "it. It may be what is left after small groups were split off.",
            [largest],
        )


def _overlapping(clustering: Overview) -> Iterator[Finding]:
    if clustering.belonging is None:
        return
    torn = clustering.belonging.overlaps(clustering.labels, clustering.n_clusters)
    sizes = clustering.sizes
    shares = {
        pair: number / (sizes[pair[0]] + sizes[pair[1]])
        for pair, number in torn.items()
        if number > 1  # a single sample between two clusters says nothing of them
    }
    worst = sorted((pair for pair in shares if shares[pair] >= OVERLAP), key=lambda pair: -shares[pair])
    if worst:
        first, likeness = worst[0], LIKENESS.format(other="the other")
        yield Finding(
            f"{_upper(_call(clustering, first))} run into each other: {percent(shares[first])} of their "
            f"members {likeness}.",
            list(first),
        )
    if len(worst) > 1:
        others = [f"{a} and {b} ({percent(shares[a, b])})" for a, b in worst[1:MOST_PAIRS]]
        more = len(worst) - MOST_PAIRS
        others += [f"{count(more)} more pair{'s' * (more != 1)}"] if more > 0 else []
        yield Finding(f"To a lesser degree, so do {'; '.join(others)}.")


def _without_core(clustering: Overview) -> Iterator[Finding]:
    if clustering.belonging is None:
        return
    clear, sizes = clustering.belonging.is_clear, clustering.sizes
    placed = clustering.labels >= 0
    clear_counts = np.bincount(clustering.labels[placed & clear], minlength=clustering.n_clusters)
    shares = np.divide(clear_counts, sizes, out=np.ones(len(sizes)), where=sizes > 0)
    if (shares[sizes > 0] < CORELESS).all():
        return  # said of all of them already
    blurred = np.flatnonzero(shares < CORELESS)
    if blurred.size == 1:
        only = int(blurred[0])
        yield Finding(
            f"{_upper(_call(clustering, [only]))} has a weak core: {percent(shares[only])} of its members "
            "belong clearly to it.",
            [only],
        )
    elif blurred.size:
        clusters = blurred[np.argsort(shares[blurred], kind="stable")][:6].tolist()
        rest = f" (and {blurred.size - 6} more)" if blurred.size > 6 else ""
        yield Finding(
            f"{_upper(_call(clustering, clusters))}{rest} have a weak core: fewer than half of their members "
            "belong clearly to them.",
            clusters,
        )


def _mixed(clustering: Overview) -> Iterator[Finding]:
    if clustering.classes is None:
        return
    mixed = []
    for c in np.flatnonzero(clustering.sizes).tolist():
        names, counts = np.unique(clustering.classes[clustering.labels == c], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        shares = counts[order] / counts.sum()
        if shares[0] < MIXED:
            mixed.append((float(shares[0]), c, names[order], shares))
    for _, c, names, shares in sorted(mixed, key=lambda item: item[:2])[:MOST_MIXED]:
        parts = [f"{percent(s)} are {isolated(name)}" for name, s in zip(names[:3], shares[:3], strict=True)]
        yield Finding(f"{_upper(_call(clustering, [c]))} mixes classes: {_listing(parts)}.", [c])
    if len(mixed) > MOST_MIXED:
        more = len(mixed) - MOST_MIXED
        yield Finding(
            f"{_upper(count(more))} more {clustering.nouns.cluster}{'s' * (more != 1)} mix classes."
        )


def _small(clustering: Overview) -> Iterator[Finding]:
    empty = np.flatnonzero(clustering.sizes == 0).tolist()
    if empty:
        are = "is" if len(empty) == 1 else "are"
        yield Finding(
            f"{_upper(_call(clustering, empty[:8]))} {are} empty: fewer were found than were asked for."
        )
    fair = clustering.n_samples / max(clustering.n_clusters, 1)
    tiny = np.flatnonzero((clustering.sizes > 0) & (clustering.sizes <= max(1, fair / 25))).tolist()
    if tiny and fair >= 5:
        most = int(clustering.sizes[tiny].max())
        have = "has" if len(tiny) == 1 else "have"
        rest = f" (and {len(tiny) - 8} more)" if len(tiny) > 8 else ""
        least = "only" if len(tiny) == 1 else "at most"
        yield Finding(
            f"{_upper(_call(clustering, tiny[:8]))}{rest} {have} {least} {clustering.nouns.samples(most)}: "
            "perhaps outliers.",
            tiny[:8],
        )


def _nowhere(clustering: Overview) -> Iterator[Finding]:
    outside = int(np.count_nonzero(clustering.labels < 0))
    if outside:
        share = percent(outside / clustering.n_samples)
        belong, them = ("belongs", "it") if outside == 1 else ("belong", "them")
        why = (
            f"no topic fits {them}"
            if clustering.nouns.cluster == "topic"
            else f"nothing ties {them} to the others"
        )
        yield Finding(
            f"{clustering.nouns.samples(outside)} ({share}) {belong} to no {clustering.nouns.cluster}: {why}."
        )


def _unfinished(clustering: Overview) -> Iterator[Finding]:
    for thing in (clustering.source, getattr(clustering.source, "model", None)):
        if getattr(thing, "converged_", True) is False:
            reason = str(getattr(thing, "stop_reason_", "")).rstrip(".")
            why = f" ({reason})" if reason else ""
            yield Finding(
                f"The computation ended early{why}: the {clustering.nouns.cluster}s might still change."
            )
