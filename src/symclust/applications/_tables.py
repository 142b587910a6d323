"""A tree of topics as plain data: nested dicts, and a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from symclust.applications._topic import Topic
from symclust.exceptions import MissingExtraError

__all__ = ["nested", "table"]


def nested(topics: Sequence[Topic], names: Sequence[str], with_documents: bool) -> dict[str, Any]:
    """Return the topics as dicts of plain numbers and strings, children within their parent."""
    found: dict[int, dict[str, Any]] = {}
    for topic in reversed(topics):  # children before their parents
        entry = _entry(topic)
        if topic.children:
            entry["children"] = [found[number] for number in topic.children]
        elif with_documents:
            entry["documents"] = [names[number] for number in topic.documents]
        found[topic.number] = entry
    return found[topics[0].number]


def _entry(topic: Topic) -> dict[str, Any]:
    return {
        "number": topic.number,
        "label": topic.label,
        "size": topic.size,
        "score": topic.score if math.isfinite(topic.score) else None,  # JSON knows finite numbers only
        "coherence": topic.coherence,
        "terms": [{"term": term, "weight": weight} for term, weight in topic.terms],
        "examples": [
            {"name": e.name, "similarity": e.similarity, "excerpt": e.excerpt} for e in topic.examples
        ],
    }


def table(topics: Sequence[Topic]) -> Any:
    """Return a pandas DataFrame with one row a topic."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(
            "to_dataframe needs pandas, which is not installed: pip install pandas. to_dict and to_json give "
            "the same without it."
        ) from error
    rows = [
        {
            "topic": topic.number,
            "parent": topic.parent,
            "depth": topic.depth,
            "label": topic.label,
            "size": topic.size,
            "score": topic.score,
            "coherence": topic.coherence,
            "terms": ", ".join(term for term, _ in topic.terms),
            "example": topic.examples[0].name if topic.examples else None,
        }
        for topic in topics
    ]
    frame = pd.DataFrame(rows).astype({"parent": "Int64", "label": "Int64"})
    return frame.set_index("topic")
