"""What clustering does to a similarity matrix, in two panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from symclust.plotting._binned import binned_similarity
from symclust.plotting._matplotlib import matplotlib_module
from symclust.plotting._tiles import draw_tiles
from symclust.plotting.plot_similarity import plot_similarity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_before_after"]


def plot_before_after(A: Any, labels: ArrayLike, *, max_size: int = 300, random_state: int = 0) -> Figure:
    """Draw the same similarities twice: samples in random order, and ordered by cluster.

    Parameters
    ----------
    A : ndarray, sparse array or operator of shape (n_samples, n_samples)
        Symmetric similarities.
    labels : array-like of shape (n_samples,)
        Cluster of each sample.
    max_size : int
        Largest number of tiles on a side; see :func:`plot_similarity`.
    random_state : int
        Seed of the random order.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from symclust.datasets import planted_partition
    >>> from symclust.plotting import plot_before_after
    >>> A, y = planted_partition(n_samples=120, n_clusters=3, random_state=0)
    >>> figure = plot_before_after(A, y)
    >>> [ax.get_title() for ax in figure.axes]
    ['before: random order', 'after: ordered by cluster']
    """
    figure, (before, after) = matplotlib_module().subplots(1, 2, figsize=(8.0, 4.4), layout="compressed")
    n = A.shape[0]
    order = np.random.default_rng(random_state).permutation(n)
    draw_tiles(before, binned_similarity(A, order, max_size), n)
    before.set(xticks=[], yticks=[], xlabel=f"{n:,} samples", title="before: random order")
    plot_similarity(A, labels, after, max_size=max_size)
    after.set(title="after: ordered by cluster")
    return figure
