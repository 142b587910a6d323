"""Merges or splits as a dendrogram, branches coloured by cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import dendrogram
from sklearn.utils.validation import check_is_fitted

from symclust._text import showable
from symclust._types import Array, Fitted, Names
from symclust.exceptions import InputError, InputTypeError
from symclust.plotting._style import Axes, cluster_colours, fresh_axes, matplotlib_module
from symclust.plotting.plot_tree import tree_of
from symclust.validation import check_number

UPRIGHT = 12  # more labels than this are turned


def plot_dendrogram(
    model: Fitted, ax: Axes | None = None, *, max_leaves: int = 40, names: Names = None
) -> Axes:
    """Draw how clusters were merged or split, from single samples or leaves at the bottom to all at the top.

    Of a `LinkageClustering` the height of a merge is its distance, the largest similarity minus that of the
    two clusters. Of a tree it is the order of the splits, the first at the top. Branches of one cluster have
    its colour. Where there are more than `max_leaves` at the bottom, the last merges are drawn, with the
    numbers of samples below them in brackets.

    Parameters
    ----------
    model : fitted estimator with ``linkage_matrix_`` or ``tree_``, what `symclust.topics` returns, or Tree
        The tree or merges to draw.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    max_leaves : int
        The most branches that end at the bottom.
    names : sequence of length n_samples, optional
        Names of samples, for a `LinkageClustering`; by default those of the nodes of a graph.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import LinkageClustering
    >>> from symclust.plotting import plot_dendrogram
    >>> K = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    >>> ax = plot_dendrogram(LinkageClustering(2, affinity="precomputed").fit(K), names="abc")
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['c', 'a', 'b']
    """
    check_number("max_leaves", max_leaves, least=2, whole=True)
    if hasattr(model, "fit"):
        check_is_fitted(model, "labels_")
    merges, labels, name, axis = _read(model, names)
    if len(merges) == 0:
        raise InputError("There is nothing to draw: a single cluster that was never split, or one sample.")
    ax = fresh_axes(ax, 6.4, 3.8)
    truncate = {"truncate_mode": "lastp", "p": max_leaves} if len(merges) >= max_leaves else {}
    shown = dendrogram(merges, no_plot=True, link_color_func=_colouring(merges, labels, ax), **truncate)
    segments = [np.column_stack(line) for line in zip(shown["icoord"], shown["dcoord"], strict=True)]
    ax.add_collection(
        matplotlib_module("collections").LineCollection(segments, colors=shown["color_list"], linewidths=1.4)
    )
    ends = 10.0 * np.arange(len(shown["leaves"])) + 5  # SciPy puts the ends at 5, 15, 25, ...
    words = [name(number) for number in shown["leaves"]]
    turn: dict[str, Any] = {"rotation": 90} if len(words) > UPRIGHT else {}
    ax.set_xticks(ends, [showable(word)[:24] for word in words], parse_math=False, **turn)
    top = float(merges[:, 2].max()) or 1.0
    ax.set(xlim=(0, ends[-1] + 5), ylim=(0, 1.04 * top))
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.tick_params(axis="x", length=0)
    axis(ax)
    return ax


def _read(model: Any, names: Any) -> tuple[Array, Array, Callable[[int], str], Callable[[Axes], Any]]:
    """SciPy's linkage matrix, the cluster of each of its leaves, names of its nodes, and the axis."""
    merges = getattr(model, "linkage_matrix_", None)
    if merges is not None:
        names = getattr(model, "node_names_", None) if names is None else names
        sizes = merges[:, 3].astype(int)
        n = len(merges) + 1

        def name(number: int) -> str:
            if number >= n:
                return f"({sizes[number - n]:,})"
            return str(number if names is None else names[number])

        return (
            merges,
            np.asarray(model.labels_),
            name,
            lambda ax: ax.set_ylabel("distance of the clusters merged"),
        )
    try:
        nodes = tree_of(model)
    except InputTypeError:
        raise InputTypeError(
            f"{type(model).__name__} has no merges or splits to draw: give a fitted model with "
            "linkage_matrix_ or tree_, what topics() returns, or a Tree."
        ) from None
    return _of_tree(nodes)


def _of_tree(nodes: list[Any]) -> tuple[Array, Array, Callable[[int], str], Callable[[Axes], Any]]:
    """The splits of a tree as merges of its leaves, the last split first."""
    leaves = [node for node in nodes if not node.children]
    inner = sorted((node for node in nodes if node.children), key=lambda node: -min(node.children))
    place = {leaf.number: label for label, leaf in enumerate(leaves)}
    count = [1] * len(leaves)
    rows = []
    for height, node in enumerate(inner, start=1):
        first, *others = (place[child] for child in node.children)
        for other in others:
            rows.append((first, other, float(height), count[first] + count[other]))
            count.append(count[first] + count[other])
            first = len(count) - 1
        place[node.number] = first
    merges = np.array(rows, dtype=np.float64).reshape(-1, 4)

    def name(number: int) -> str:
        if number >= len(leaves):
            return f"({count[number]} leaves)"
        leaf = leaves[number]
        return f"{number}: {len(leaf.documents if hasattr(leaf, 'documents') else leaf.members):,}"

    def axis(ax: Axes) -> None:
        ax.set(yticks=range(1, len(inner) + 1), yticklabels=range(len(inner), 0, -1), ylabel="split")
        ax.set_xlabel("leaf: samples")
        if len(inner) > UPRIGHT:
            ax.set_yticks([len(inner), 1], ["first", "last"])

    return merges, np.arange(len(leaves)), name, axis


def _colouring(merges: Array, labels: Array, ax: Axes) -> Callable[[int], str]:
    """The colour of each merge: that of its cluster, or of the page's text if clusters meet in it."""
    colours = cluster_colours(int(labels.max(initial=0)) + 1)
    ink = matplotlib_module("colors").to_hex(ax.xaxis.label.get_color())
    owner = [*labels.tolist()]
    for left, right in merges[:, :2].astype(int).tolist():
        owner.append(owner[left] if owner[left] == owner[right] else -1)
    return lambda number: ink if owner[number] < 0 else colours[owner[number]]
