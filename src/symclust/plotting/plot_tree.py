"""A tree of clusters or topics as a picture, from the root on the left to the leaves on the right."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from symclust._text import showable
from symclust._types import Fitted, Names
from symclust.exceptions import InputTypeError
from symclust.plotting._style import Axes, fresh_axes, is_dark, line_colours
from symclust.validation import check_number

MOST_WORDS = 46  # characters beside a leaf


def plot_tree(
    model: Fitted,
    ax: Axes | None = None,
    *,
    max_leaves: int = 40,
    n_terms: int = 4,
    feature_names: Names = None,
) -> Axes:
    """Draw a tree of clusters; a branch is as wide as the number of samples that it leads to.

    Parameters
    ----------
    model : fitted estimator with ``tree_``, what `symclust.topics` returns, or Tree
        The tree or merges to draw.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure, taller for more leaves.
    max_leaves : int
        A larger tree is drawn as it was when it had this many leaves.
    n_terms : int
        How many terms to write beside a leaf, for trees that have them.
    feature_names : sequence of str, optional
        Names of terms, for a `HierarchicalNMF`; by default those of a DataFrame that was fitted.

    Examples
    --------
    >>> from symclust.hierarchy import Tree
    >>> from symclust.plotting import plot_tree
    >>> tree = Tree(5)
    >>> left, right = tree.split(0, [[0, 1, 2], [3, 4]])
    >>> [text.get_text() for text in plot_tree(tree).get_yticklabels()]
    ['0:  3 samples', '1:  2 samples']
    """
    check_number("max_leaves", max_leaves, least=1, whole=True)
    check_number("n_terms", n_terms, least=0, whole=True)
    if feature_names is None:
        feature_names = getattr(model, "feature_names_in_", None)
    nodes = _grown_to(tree_of(model), max_leaves)
    leaves = [node for node, children in nodes.values() if not children]
    ax = fresh_axes(ax, 6.4, 0.9 + 0.27 * len(leaves))
    places = _places(nodes)
    for number, (_, children) in nodes.items():
        for child in children:
            _draw_branch(ax, places[number], places[child], len(_members(nodes[child][0])), nodes)
        if children:
            ax.plot(*places[number], "o", markersize=3, color=line_colours(is_dark(ax))[0])
    labels = _labels(model)
    words = [_words(leaf, labels, n_terms, feature_names) for leaf in leaves]
    ax.yaxis.tick_right()
    ax.set_yticks(range(len(leaves)), words, parse_math=False)
    ax.set(ylim=(len(leaves) - 0.5, -0.5), xticks=[])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def tree_of(model: Any) -> list[Any]:
    """The nodes of a model's tree, from the root down and from left to right."""
    if hasattr(model, "fit"):
        check_is_fitted(model, "labels_")
    tree = getattr(model, "tree_", model)
    if hasattr(tree, "walk"):
        return list(tree.walk())
    if hasattr(tree, "topics"):
        return list(tree.topics)
    raise InputTypeError(
        f"A tree cannot be read from {type(model).__name__}: give a fitted model with tree_, what topics() "
        "returns, or a Tree."
    )


def _grown_to(nodes: list[Any], max_leaves: int) -> dict[int, tuple[Any, tuple[int, ...]]]:
    """Nodes by number with their children, as they were when the tree had at most this many leaves."""
    # Children are numbered as splits are made, so that the first splits have the smallest numbers.
    inner = sorted((node for node in nodes if node.children), key=lambda node: min(node.children))
    kept, n_leaves = set(), 1
    for node in inner:
        n_leaves += len(node.children) - 1
        if n_leaves > max_leaves:
            break
        kept.add(node.number)
    shown = {nodes[0].number} | {child for node in inner if node.number in kept for child in node.children}
    return {
        node.number: (node, tuple(node.children) if node.number in kept else ())
        for node in nodes
        if node.number in shown
    }


def _places(nodes: dict[int, tuple[Any, tuple[int, ...]]]) -> dict[int, tuple[float, float]]:
    """Places of the nodes: leaves in a column at the right, others at the middle of their children."""
    deepest = max(node.depth for node, _ in nodes.values()) or 1
    places: dict[int, tuple[float, float]] = {}
    row = sum(not children for _, children in nodes.values())
    for number, (node, children) in reversed(nodes.items()):  # children before their parents
        if children:
            places[number] = (node.depth, float(np.mean([places[child][1] for child in children])))
        else:
            row -= 1
            places[number] = (deepest, float(row))
    return places


def _draw_branch(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], size: int, nodes: dict[int, Any]
) -> None:
    total = len(_members(next(iter(nodes.values()))[0]))
    x = [start[0], start[0], end[0]]
    width = 0.8 + 5 * np.sqrt(size / max(total, 1))
    line: dict[str, Any] = {"color": line_colours(is_dark(ax))[0], "alpha": 0.55, "solid_joinstyle": "round"}
    ax.plot(x, [start[1], end[1], end[1]], linewidth=width, solid_capstyle="butt", **line)


def _members(node: Any) -> Any:
    return node.documents if hasattr(node, "documents") else node.members


def _labels(model: Any) -> dict[int, int]:
    """The label of each leaf of the whole tree, by its number."""
    leaves = [node for node in tree_of(model) if not node.children]
    return {leaf.number: label for label, leaf in enumerate(leaves)}


def _words(node: Any, labels: dict[int, int], count: int, feature_names: Any) -> str:
    size, noun = len(_members(node)), "document" if hasattr(node, "documents") else "sample"
    start = f"{labels[node.number]}:  " if node.number in labels else "…  "
    terms = _terms(node, count, feature_names)
    text = showable(", ".join(terms)) + f"  ({size:,})" if terms else f"{size:,} {noun}{'s' * (size != 1)}"
    return start + (text if len(text) <= MOST_WORDS else text[: MOST_WORDS - 1] + "…")


def _terms(node: Any, count: int, feature_names: Any) -> list[str]:
    if hasattr(node, "terms"):
        return [str(term) for term, _ in node.terms[:count]]
    columns = node.data.get("terms", ())[:count] if feature_names is not None else ()
    return [str(feature_names[j]) for j in columns]
