"""The similarity matrix as a picture, ordered by cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symclust.plotting._binned import binned_similarity
from symclust.plotting._matplotlib import matplotlib_module
from symclust.plotting._style import BORDER
from symclust.plotting._tiles import draw_tiles
from symclust.plotting.cluster_order import cluster_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_similarity"]

# More names than this beside the picture run into each other.
MOST_NAMES = 25


def plot_similarity(
    A: Any, labels: ArrayLike | None = None, ax: Axes | None = None, *, max_size: int = 300
) -> Axes:
    """Draw a similarity matrix with the samples of each cluster side by side.

    Good clusters show as filled squares on the diagonal. Matrices with more than `max_size` rows are averaged
    over tiles, so a sparse matrix of a million rows needs no more memory than its own.

    Parameters
    ----------
    A : ndarray, sparse array or operator of shape (n_samples, n_samples)
        Symmetric similarities, such as ``model.affinity_matrix_``. With negative entries the colours diverge
        from 0.
    labels : array-like of shape (n_samples,), optional
        Cluster of each sample; without it, samples keep their order and no borders are drawn.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    max_size : int
        Largest number of tiles on a side.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.plotting import plot_similarity
    >>> A = np.array([[0.0, 0.1, 0.9], [0.1, 0.0, 0.2], [0.9, 0.2, 0.0]])
    >>> ax = plot_similarity(A, labels=["a", "b", "a"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['a', 'b']
    """
    if ax is None:
        ax = matplotlib_module().subplots(figsize=(4.2, 4.2), layout="constrained")[1]
    n = A.shape[0]
    order = np.arange(n) if labels is None else cluster_order(labels)
    draw_tiles(ax, binned_similarity(A, order, max_size), n)
    if labels is None:
        ax.set(xticks=[], yticks=[], xlabel=f"{n:,} samples")
    else:
        _draw_borders(ax, np.asarray(labels))
    return ax


def _draw_borders(ax: Axes, labels: NDArray[np.generic]) -> None:
    names, sizes = np.unique(labels, return_counts=True)
    n, ends = len(labels), np.cumsum(sizes)
    starts = ends - sizes
    for start, end in zip(starts, ends, strict=True):
        x = [start, end, end, start, start]
        ax.plot(x, [start, start, end, end, start], color=BORDER, linewidth=0.8)
    few = len(names) <= MOST_NAMES
    ax.set(xlim=(0, n), ylim=(n, 0), xticks=[], xlabel=f"{n:,} samples in {len(names)} clusters")
    ax.set_yticks((starts + ends) / 2 if few else [], [str(name) for name in names] if few else [])
    ax.tick_params(length=0)
