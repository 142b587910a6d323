"""The words of topics side by side, the heavier the darker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symclust._text import showable
from symclust._types import Fitted
from symclust.exceptions import InputError, InputTypeError
from symclust.plotting._style import Axes, fresh_axes, is_dark, line_colours
from symclust.validation import check_number

LONGEST = 15  # characters of a word
Words = list[tuple[str, float]]


def plot_topic_words(
    model: Fitted,
    feature_names: Sequence[object] | None = None,
    ax: Axes | None = None,
    *,
    n_terms: int = 7,
    max_topics: int = 30,
) -> Axes:
    """Draw one row per topic with its first terms, each on a ground as strong as its weight in the topic.

    Parameters
    ----------
    model : what `symclust.topics` returns, or a fitted estimator with ``components_``
        Topics and the weights of their terms.
    feature_names : sequence of length n_features, optional
        Names of the columns of ``components_``; by default those of a DataFrame that was fitted.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure, taller for more topics.
    n_terms : int
        How many terms of each topic.
    max_topics : int
        If there are more, the largest topics are drawn.

    Examples
    --------
    >>> from symclust import NMF
    >>> from symclust.plotting import plot_topic_words
    >>> model = NMF(2, random_state=0).fit([[2, 1, 0], [4, 2, 0], [0, 0, 3]])
    >>> ax = plot_topic_words(model, ["moon", "rocket", "bank"])
    >>> sorted(text.get_text() for text in ax.texts)
    ['bank', 'moon', 'rocket']
    """
    check_number("n_terms", n_terms, least=1, whole=True)
    check_number("max_topics", max_topics, least=1, whole=True)
    topics, sizes = _read(model, feature_names, n_terms)
    order = np.sort(np.argsort(-np.asarray(sizes), kind="stable")[:max_topics])
    ax = fresh_axes(ax, 1.15 * n_terms + 1.2, 0.5 + 0.3 * len(order))
    colour = line_colours(is_dark(ax))[0]
    for row, number in enumerate(order.tolist()):
        _draw_row(ax, row, topics[number], colour)
    ax.set(xlim=(0, n_terms), ylim=(len(order), 0), xticks=[])
    ax.set_yticks(np.arange(len(order)) + 0.5, [f"{c}  ({sizes[c]:,})" for c in order.tolist()])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_ylabel("topic (documents)")
    return ax


def _read(model: Any, feature_names: Any, n_terms: int) -> tuple[list[Words], list[int]]:
    """The first terms of each topic with their weights, and the sizes of the topics."""
    if hasattr(model, "leaves") and hasattr(model, "topics"):
        return [list(leaf.terms[:n_terms]) for leaf in model.leaves], [leaf.size for leaf in model.leaves]
    C = getattr(model, "components_", None)
    if C is None:
        raise InputTypeError(
            f"{type(model).__name__} has no topics: give what topics() returns, or a fitted model with "
            "components_."
        )
    names = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
    if names is None or len(names) != C.shape[1]:
        given = "no names" if names is None else f"{len(names)}"
        raise InputError(f"feature_names must name the {C.shape[1]} columns of components_; got {given}.")
    labels = np.asarray(model.labels_)
    sizes = np.bincount(labels[labels >= 0], minlength=len(C)).tolist()
    best = [np.argsort(-row, kind="stable")[:n_terms] for row in C]
    return [
        [(str(names[j]), float(row[j])) for j in order if row[j] > 0]
        for row, order in zip(C, best, strict=True)
    ], sizes


def _draw_row(ax: Axes, row: int, words: Words, colour: str) -> None:
    heaviest = max((weight for _, weight in words), default=1.0) or 1.0
    for column, (term, weight) in enumerate(words):
        word = showable(term)
        word = word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"
        ground: dict[str, Any] = {"color": colour, "alpha": 0.08 + 0.42 * weight / heaviest, "linewidth": 0}
        ax.fill_between([column + 0.02, column + 0.98], row + 0.06, row + 0.94, **ground)
        place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small", "parse_math": False}
        ax.text(column + 0.5, row + 0.5, word, **place)
