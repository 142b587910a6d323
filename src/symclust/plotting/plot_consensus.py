"""How often two samples are in one cluster, as a picture with clusters as blocks."""

from __future__ import annotations

from typing import Any

from symclust._types import Fitted
from symclust.exceptions import InputError, InputTypeError
from symclust.plotting._style import Axes, fresh_axes, is_dark, matplotlib_module, similarity_colours
from symclust.plotting.plot_selection import selection_of
from symclust.plotting.plot_similarity import binned_similarity, draw_frames
from symclust.validation import check_number

NEEDED = ("values", "order", "labels", "samples", "n_samples")


def plot_consensus(
    consensus: Fitted, k: int | None = None, ax: Axes | None = None, *, max_size: int = 300
) -> Axes:
    """Draw a consensus matrix in the order of its tree, with a frame around each of k clusters.

    Stable clusters are filled squares with nothing beside them; stripes in between are samples that change
    clusters from run to run. A matrix with more than `max_size` rows is averaged over tiles.

    Parameters
    ----------
    consensus : ConsensusMatrix, Selection, or fitted estimator with ``selection_``
        The matrix, or what `symclust.select_n_clusters` returns for the methods "consensus" and
        "consensus_init".
    k : int, optional
        Number of clusters. Of a selection, it chooses the matrix, too; by default it is the number chosen.
        Of a matrix, the default is the number of clusters of its runs.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    max_size : int
        Largest number of tiles on a side.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from symclust.plotting import plot_consensus
    >>> from symclust.selection import ConsensusMatrix
    >>> plot_consensus(ConsensusMatrix([[0, 1, 0, 1, 1], [1, 0, 1, 0, 0]])).get_xlabel()
    '5 samples in 2 clusters'
    """
    check_number("max_size", max_size, least=1, whole=True)
    matrix, k = _read(consensus, k)
    ax = fresh_axes(ax, 5.0, 4.2)
    order = matrix.order()
    tiles = binned_similarity(matrix.values, order, max_size)
    n = len(order)
    scale = [ax.get_facecolor(), *similarity_colours(is_dark(ax))]
    colours = matplotlib_module("colors").LinearSegmentedColormap.from_list("consensus", scale)
    image = ax.imshow(tiles, extent=(0, n, n, 0), interpolation="nearest", cmap=colours, vmin=0.0, vmax=1.0)
    ax.figure.colorbar(image, ax=ax, label="share of runs together", shrink=0.85)
    draw_frames(ax, matrix.labels(k)[matrix.samples][order], max_size)
    if n < matrix.n_samples:
        ax.set_xlabel(f"{n:,} of {matrix.n_samples:,} {ax.get_xlabel().partition(' ')[2]}")
    return ax


def _read(consensus: Any, k: int | None) -> tuple[Any, int | None]:
    """The matrix to draw and the number of its clusters."""
    consensus = selection_of(consensus)
    matrices = getattr(consensus, "consensus", None)
    if isinstance(matrices, dict):
        return _of_selection(consensus, matrices, k)
    missing = [name for name in NEEDED if not hasattr(consensus, name)]
    if missing:
        raise InputTypeError(
            f"A consensus cannot be read from {type(consensus).__name__}, which has no {', '.join(missing)}: "
            "give a ConsensusMatrix, or what select_n_clusters(method='consensus') returns."
        )
    return consensus, k


def _of_selection(selection: Any, matrices: dict[int, Any], k: int | None) -> tuple[Any, int]:
    k = int(selection.n_clusters if k is None else k)
    if not matrices:
        raise InputError(
            f"The method {selection.method!r} keeps no consensus matrices: select_n_clusters with "
            "method='consensus' does."
        )
    if k not in matrices:
        known = ", ".join(map(str, sorted(matrices)))
        raise InputError(f"There is no consensus matrix for k={k}. Choose one of {known}.")
    return matrices[k], k
