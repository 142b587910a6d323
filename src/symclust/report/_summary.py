"""A fitted model in a few lines of HTML, for notebooks; no library is needed for it."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from symclust._text import showable
from symclust.report._clusters import clipped
from symclust.report._findings import find
from symclust.report._reading import Overview, read_clustering

MOST_BARS = 24

STYLE = (
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45;max-width:46em;"
    "border-left:3px solid #0072b2;padding:.2em 0 .2em .8em;margin:.4em 0"
)


def summary_html(model: Any) -> str:
    """The findings, the doubts, and a bar with the sizes of the clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import SymNMF
    >>> from symclust.report import summary_html
    >>> X = np.kron(np.eye(2), np.ones((5, 3))) + 0.01
    >>> "Two clusters in 10 samples." in summary_html(SymNMF(2, random_state=0).fit(X))
    True
    """
    clustering = read_clustering(model)
    findings = find(clustering)
    doubts = "".join(f"<li>{_text(doubt.text)}</li>" for doubt in findings.doubts[:4])
    return (
        f'<div class="symclust-summary" style="{STYLE}"><b>{_text(findings.headline)}</b> '
        f"{' '.join(_text(fact) for fact in findings.facts)}{_bar(clustering)}"
        f"{_list(doubts)}</div>"
    )


def _list(items: str) -> str:
    return f'<ul style="margin:.3em 0 0;padding-left:1.2em">{items}</ul>' if items else ""


def _text(text: str) -> str:
    return escape(showable(text))


def _bar(clustering: Overview) -> str:
    """A strip in which each of the largest clusters has its share."""
    largest = np.argsort(-clustering.sizes, kind="stable")[:MOST_BARS]
    pieces = [_piece(clustering, c) for c in largest.tolist() if clustering.sizes[c]]
    return f'<div style="display:flex;height:1.1em;margin:.5em 0 .2em">{"".join(pieces)}</div>'


def _piece(clustering: Overview, c: int) -> str:
    size = int(clustering.sizes[c])
    name = clipped(clustering.name_of_cluster(c), 30)
    title = f"{clustering.nouns.cluster} {name}: {clustering.nouns.samples(size)}"
    style = f"flex:{size};background:{clustering.colour_of(c)};margin-right:1px"
    return f'<span title="{_text(title)}" style="{style}"></span>'
