"""A fitted model in a few lines of HTML, for notebooks; no library is needed for it."""

from __future__ import annotations

from html import escape
from typing import Any

from symclust._text import showable
from symclust.report._findings import find
from symclust.report._reading import read_clustering

MOST_DOUBTS = 4
STYLE = (
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45;max-width:64em;"
    "border-left:3px solid #0072b2;padding:.2em 0 .2em .8em;margin:.4em 0"
)


def summary_html(model: Any) -> str:
    """The clusters in words, then the findings and doubts."""
    clustering = read_clustering(model)
    findings = find(clustering)
    doubts = "".join(f"<li>{_text(doubt.text)}</li>" for doubt in findings.doubts[:MOST_DOUBTS])
    return (
        f'<div class="symclust-summary" style="{STYLE}"><b>{_text(findings.headline)}</b> '
        f"{' '.join(_text(fact) for fact in findings.facts)}{clustering.description.table_html()}"
        + (f'<ul style="margin:.3em 0 0;padding-left:1.2em">{doubts}</ul>' if doubts else "")
        + "</div>"
    )


def _text(text: str) -> str:
    return escape(showable(text))
