"""A tree of topics as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symclust.applications._topic import Topic

__all__ = ["draw_tree"]


def draw_tree(
    topics: Sequence[Topic], heading: str, width: int, n_terms: int, max_depth: int | None, n_examples: int
) -> str:
    """Return one line a topic, branches drawn in Unicode, no line longer than `width`."""
    by_number = {topic.number: topic for topic in topics}
    lines = [heading]
    if topics[0].is_leaf:
        lines += _draw(topics[0], by_number, "", True, (width, n_terms, max_depth, n_examples))
    for child, is_last in _children(topics[0], by_number):
        lines += _draw(child, by_number, "", is_last, (width, n_terms, max_depth, n_examples))
    return "\n".join(line[:width].rstrip() for line in lines)


def _children(topic: Topic, by_number: dict[int, Topic]) -> Iterator[tuple[Topic, bool]]:
    for number in topic.children:
        yield by_number[number], number == topic.children[-1]


def _draw(
    topic: Topic,
    by_number: dict[int, Topic],
    indent: str,
    is_last: bool,
    options: tuple[int, int, int | None, int],
) -> Iterator[str]:
    width, n_terms, max_depth, n_examples = options
    yield _line(topic, indent + ("└─ " if is_last else "├─ "), width, n_terms)
    below = indent + ("   " if is_last else "│  ")
    if topic.is_leaf:
        for example in topic.examples[:n_examples]:
            yield _shortened(f"{below}   · {example.excerpt or example.name}", width)
    elif max_depth is None or topic.depth < max_depth:
        for child, last in _children(topic, by_number):
            yield from _draw(child, by_number, below, last, options)


def _line(topic: Topic, start: str, width: int, n_terms: int) -> str:
    """Return as many terms as fit, the number of documents after them."""
    start += f"[{topic.label}] " if topic.is_leaf else ""
    end = f"  ({topic.size:,})"
    words = [term for term, _ in topic.terms[:n_terms]] or ["no terms"]
    while len(words) > 1 and len(start) + len(", ".join(words)) + len(end) > width:
        words.pop()
    return _shortened(start + ", ".join(words), width - len(end)) + end


def _shortened(line: str, width: int) -> str:
    return line if len(line) <= width else line[: max(0, width - 1)].rstrip() + "…"
