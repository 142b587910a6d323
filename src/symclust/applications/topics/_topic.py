"""Topics in words: the terms and typical documents of every node of a tree, and the tree drawn as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symclust._text import showable
from symclust.applications.topics._corpus import Corpus
from symclust.applications.topics._counting import JOINERS
from symclust.applications.topics._documents import BlockDocuments, Documents
from symclust.hierarchy import Tree

if TYPE_CHECKING:
    from symclust.applications.topics.topic_tree import FittedTopics

PLURALS = (("sses", "ss"), ("ies", "y"), ("ss", "ss"), ("us", "us"), ("is", "is"), ("s", ""))
EXCERPT = 200  # characters of a document that are kept with a topic


@dataclass(frozen=True)
class Example:
    """A document that is typical of a topic, by its number among those given and its file, line or number.

    `similarity` is its cosine with the mean document of the topic; `excerpt` is its beginning, empty if only
    counts were given.
    """

    document: int
    name: str
    similarity: float
    excerpt: str

    def _saved_state(self, data: bool) -> dict[str, Any]:
        """The attributes that are saved; an excerpt is training data."""
        return vars(self) if data else {**vars(self), "excerpt": ""}


@dataclass(frozen=True, eq=False)
class Topic:
    """A node of a tree of topics; the root has number 0 and holds all documents.

    `label` is the one of a leaf in `TopicTree.labels_`, `depth` the number of steps from the root, and `name`
    the one given by `TopicTree.rename`. The most typical of the `examples` come first.

    `terms` set its leaves apart from all documents, the most telling first, each with its weight in the mean
    document. Their order is that of p log(p/q), summed over the documents of its leaves, with p and q the
    shares of the documents of a leaf and of all documents that have the term. Of a word and its plural one is
    there; `coherence` is the `symclust.metrics.topic_coherence` of the terms in all documents.

    `score` is the worth of its split: the sum of cosines of documents with the centres of the two parts, less
    that with a common one. For trees that are not refined it is (63) of Kuang (2014), also for leaves; it is
    NaN if scores were not asked for.
    """

    number: int
    label: int | None
    parent: int | None
    children: tuple[int, ...]
    depth: int
    documents: np.ndarray
    terms: tuple[tuple[str, float], ...]
    score: float
    coherence: float
    examples: tuple[Example, ...]
    name: str = ""

    @property
    def size(self) -> int:
        """Number of documents."""
        return len(self.documents)

    @property
    def is_leaf(self) -> bool:
        """Whether it is not divided further."""
        return not self.children


def describe_nodes(
    fitted: FittedTopics, documents: Documents | BlockDocuments, corpus: Corpus
) -> list[Topic]:
    """The nodes of a tree from the root down and from left to right, as topics in words.

    The tree of `fitted` is one of `documents`; the texts of all are in `corpus`.
    """
    tree, kept, n_examples = fitted.model.tree_, fitted.kept, fitted.n_examples
    nodes = list(tree.walk())
    telling, typical = _ranked(tree, documents), documents.typical(tree, n_examples)
    ranked = [telling[node.number] for node in nodes]
    coherence = documents.coherence([order for order, _ in ranked])
    labels = {leaf.number: label for label, leaf in enumerate(tree.leaves())}
    return [
        Topic(
            number=node.number,
            label=labels.get(node.number),
            parent=node.parent,
            children=node.children,
            depth=node.depth,
            documents=kept[node.members],
            terms=_shown(fitted, order, weights),
            score=float(node.score),
            coherence=float(value),
            examples=tuple(_examples(*typical[node.number], kept, corpus, n_examples)),
        )
        for node, (order, weights), value in zip(nodes, ranked, coherence, strict=True)
    ]


def _shown(fitted: FittedTopics, order: np.ndarray, weights: np.ndarray) -> tuple[tuple[str, float], ...]:
    """The first terms and their weights; of a word and its plural the one that comes first."""
    most = 3 * fitted.n_terms
    names = fitted.terms[order[:most]].tolist()
    found = dict(zip(names, weights[:most].tolist(), strict=True))
    return tuple((term, found[term]) for term in without_plurals(names, fitted.n_terms))


def without_plurals(terms: Sequence[str], count: int) -> list[str]:
    """The first `count` terms without those that are the plural or the singular of an earlier one.

    By the endings of English, which many languages share: others lose nothing, unless two words of one topic
    differ by them alone.
    """
    found: dict[str, str] = {}
    for term in terms:
        found.setdefault(_singular(term), term)
        if len(found) == count:
            break
    return list(found.values())


def _singular(term: str) -> str:
    for ending, other in PLURALS:
        if term.endswith(ending) and len(term) > len(ending) + 2:
            return term[: -len(ending)] + other
    return term


def telling(has: np.ndarray, n: int, whole: np.ndarray, n_whole: int) -> np.ndarray:
    """The weight p log(p/q) of each term, with p and q the shares of some and of all documents that have it.

    `has` and `whole` count the documents with each term, among `n` and `n_whole`. Counts or weights in place
    of documents prefer rare terms, and those that few documents repeat: topics are then told by words that
    hardly meet (docs/evidence/documents.md).
    """
    p, q = has / max(n, 1), whole / max(n_whole, 1)
    return p * np.log(np.divide(p, q, out=np.ones_like(p), where=p > 0))


def _ranked(tree: Tree, documents: Documents | BlockDocuments) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """The terms of each node by what they tell, and their weights in its mean document.

    A node's terms are those that its leaves are told by, added up over their documents: what many of them
    share comes first. Compared with all documents as a whole, large nodes, and the root above all, would be
    told by noise.
    """
    leaves = tree.leaves()
    cut = tree.cut(len(leaves))
    own, has = documents.sums(cut, len(leaves)).toarray(), documents.frequencies(cut, len(leaves)).toarray()
    whole = documents.frequencies(np.zeros(tree.n_samples, dtype=np.intp), 1).toarray()[0]
    sums, tells = {}, {}
    for label, leaf in enumerate(leaves):
        size = len(leaf.members)
        sums[leaf.number] = own[label]
        tells[leaf.number] = size * telling(has[label], size, whole, tree.n_samples)
    found: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for node in reversed(list(tree.walk())):
        number = node.number
        if node.children:
            sums[number] = np.sum([sums.pop(child) for child in node.children], axis=0)
            tells[number] = np.sum([tells.pop(child) for child in node.children], axis=0)
        weights = sums[number]
        present = np.flatnonzero(weights)
        order = present[np.lexsort((-weights[present], -tells[number][present]))]
        found[number] = order, weights[order] / np.linalg.norm(weights[order])
    return found


def _examples(
    rows: np.ndarray, cosines: np.ndarray, kept: np.ndarray, corpus: Corpus, n_examples: int
) -> Iterator[Example]:
    """Examples from documents, the most typical first, and their cosines with the mean."""
    seen: set[str] = set()
    for row, cosine in zip(rows, cosines, strict=True):
        if len(seen) == n_examples:
            return
        number = int(kept[row])
        text = corpus.texts[number] if corpus.texts else ""
        if text is None:  # a document of an earlier batch that has not been shown so far
            continue
        text = text if corpus.shortened else excerpt(text)
        if (text or str(number)) not in seen:  # copies of one document are no further example
            seen.add(text or str(number))
            yield Example(number, corpus.names[number], float(cosine), text)


def excerpt(text: str, length: int = EXCERPT) -> str:
    """The beginning of a text on one line, cut between words.

    Characters that are not to be seen become spaces, since some of them would steer the terminal; those that
    join letters stay.
    """
    seen = (letter if letter.isprintable() or letter in JOINERS else " " for letter in text[: 4 * length])
    line = " ".join("".join(seen).split())
    return line if len(line) <= length else line[:length].rsplit(" ", 1)[0] + " …"


def draw_tree(
    topics: Sequence[Topic], heading: str, width: int, n_terms: int, max_depth: int | None, n_examples: int
) -> str:
    """One line per topic, branches drawn in Unicode, no line longer than `width`."""
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
            yield _shortened(f"{below}   · {example.excerpt or showable(example.name)}", width)
    elif max_depth is None or topic.depth < max_depth:
        for child, last in _children(topic, by_number):
            yield from _draw(child, by_number, below, last, options)


def _line(topic: Topic, start: str, width: int, n_terms: int) -> str:
    """As many terms as fit, and the number of documents."""
    start += f"[{topic.label}] " if topic.is_leaf else ""
    start += f"{showable(topic.name)}: " if topic.name else ""
    end = f"  ({topic.size:,})"
    words = [showable(term) for term, _ in topic.terms[:n_terms]] or ["no terms"]
    while len(words) > 1 and len(start) + len(", ".join(words)) + len(end) > width:
        words.pop()
    return _shortened(start + ", ".join(words), width - len(end)) + end


def _shortened(line: str, width: int) -> str:
    return line if len(line) <= width else line[: max(0, width - 1)].rstrip() + "…"
