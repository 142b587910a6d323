"""A graph as a picture: its nodes coloured by cluster, or one disc per cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symclust._types import Array, SimilarityLike
from symclust.plotting._layout import GraphMap, graph_map
from symclust.plotting._style import NOWHERE, Axes, cluster_colours, fresh_axes, matplotlib_module
from symclust.plotting.plot_similarity import labelled_similarity


def plot_graph(
    A: SimilarityLike,
    labels: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    max_nodes: int = 2000,
    max_edges: int = 6000,
    random_state: int = 0,
) -> Axes:
    """Draw a graph with its nodes coloured by cluster, a large one as a disc for each cluster.

    Forces lay it out: nodes that are joined pull each other, all others push. Up to `max_nodes` nodes are
    drawn one by one. A larger graph is drawn as discs with areas that go with the sizes of clusters, joined
    by lines as wide as the weight between them.

    Parameters
    ----------
    A : fitted estimator; or ndarray, sparse array or operator of shape (n_samples, n_samples)
        A model of a network, whose edges are drawn as they were given; another model with
        ``affinity_matrix_``, whose similarities are the edges; or the weights of the edges.
    labels : array-like of shape (n_samples,), optional
        Cluster of each node; by default the model's ``labels_``.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    max_nodes : int
        The most nodes that are drawn one by one.
    max_edges : int
        The most edges that are drawn: the heaviest.
    random_state : int
        Seed of the layout.

    Examples
    --------
    >>> import networkx as nx
    >>> from symclust import SymNMF
    >>> from symclust.plotting import plot_graph
    >>> model = SymNMF(2, random_state=0).fit(nx.karate_club_graph())
    >>> plot_graph(model).get_xlabel()
    '34 nodes in 2 clusters, 78 links'
    """
    network = getattr(A, "network_", None)
    A, labels = labelled_similarity(A, labels)
    A = A if network is None else network
    ax = fresh_axes(ax, 5.2, 5.2)
    found = graph_map(A, labels, max_nodes=max_nodes, max_edges=max_edges, random_state=random_state)
    n_clusters = int(found.clusters.max(initial=-1)) + 1
    colours = np.array([*cluster_colours(n_clusters), NOWHERE])[found.clusters]
    _draw_edges(ax, found)
    circles = [
        matplotlib_module("patches").Circle(p, r) for p, r in zip(found.positions, found.radii, strict=True)
    ]
    line = {"edgecolor": ax.get_facecolor(), "linewidth": 0.4}
    ax.add_collection(
        matplotlib_module("collections").PatchCollection(circles, facecolor=colours, zorder=2, **line)
    )
    _write_numbers(ax, found)
    ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], aspect="equal", xlabel=_words(found, A.shape[0]))
    ax.spines[:].set_visible(False)
    return ax


def _draw_edges(ax: Axes, found: GraphMap) -> None:
    segments = found.positions[found.edges]
    widths: Any = 0.4 + 5 * found.weights if found.is_aggregated else 0.3 + 0.5 * found.weights
    # Thousands of lines would cover the nodes' colours: the more there are, the paler each is.
    alpha = 0.45 if found.is_aggregated else float(np.clip(8 / np.sqrt(max(len(segments), 1)), 0.08, 0.5))
    colour = ax.xaxis.label.get_color()
    lines = matplotlib_module("collections").LineCollection(
        segments, linewidths=widths, colors=colour, alpha=alpha, zorder=1
    )
    ax.add_collection(lines)


def _write_numbers(ax: Axes, found: GraphMap) -> None:
    """Write the number of each cluster on its disc, or at the middle of its nodes."""
    effects = matplotlib_module("patheffects")
    ink, paper = ax.xaxis.label.get_color(), ax.get_facecolor()
    names = np.unique(found.clusters[found.clusters >= 0])
    for name in names.tolist() if len(names) <= 120 else []:
        x, y = _middle(found.positions[found.clusters == name])
        outline = [effects.withStroke(linewidth=2.2, foreground=paper)]
        ax.text(x, y, str(name), ha="center", va="center", color=ink, zorder=3, path_effects=outline)


def _middle(places: Array) -> Array:
    """The member nearest to the median: a number there stands on its cluster, whatever its shape."""
    median = np.median(places, axis=0)
    return places[np.argmin(np.linalg.norm(places - median, axis=1))]


def _words(found: GraphMap, n: int) -> str:
    k = len(np.unique(found.clusters[found.clusters >= 0]))
    clusters = f" in {k:,} cluster{'s' * (k != 1)}" if k else ""
    if found.is_aggregated:
        return f"{n:,} nodes{clusters}: discs are clusters"
    hidden = f", {found.n_hidden:,} lighter ones not drawn" if found.n_hidden else ""
    return f"{n:,} nodes{clusters}, {len(found.edges):,} links{hidden}"
