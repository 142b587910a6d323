"""The similarity matrix as a picture: samples in the order of their clusters, large matrices in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from symclust._text import showable
from symclust._threads import split
from symclust._types import Array, SimilarityLike
from symclust.exceptions import InputError, InputTypeError
from symclust.plotting._style import (
    BORDER,
    SIGNED_MAP,
    Axes,
    fresh_axes,
    is_dark,
    matplotlib_module,
    similarity_colours,
)
from symclust.validation import check_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# More names than this beside the picture run into each other.
MOST_NAMES = 25

# Columns multiplied at once for an operator: 32 n-vectors are the most that is ever held beside A.
COLUMNS = 32


def plot_similarity(
    A: SimilarityLike, labels: ArrayLike | None = None, ax: Axes | None = None, *, max_size: int = 300
) -> Axes:
    """Draw a similarity matrix with the samples of each cluster side by side.

    Good clusters show as filled squares on the diagonal. Matrices with more than `max_size` rows are averaged
    over tiles, so a sparse matrix of a million rows needs no more memory than its own. Each cluster has a
    frame; if there are more clusters than tiles, only those that fill a tile have one.

    Parameters
    ----------
    A : fitted estimator; or ndarray, sparse array or operator of shape (n_samples, n_samples)
        A model with ``affinity_matrix_``, or symmetric similarities themselves. With negative entries the
        colours diverge from 0.
    labels : array-like of shape (n_samples,), optional
        Cluster of each sample; by default the model's ``labels_``. Without any, samples keep their order and
        no frames are drawn.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    max_size : int
        Largest number of tiles on a side.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.plotting import plot_similarity
    >>> A = np.array([[0.0, 0.1, 0.9], [0.1, 0.0, 0.2], [0.9, 0.2, 0.0]])
    >>> ax = plot_similarity(A, labels=["a", "b", "a"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['a', 'b']
    """
    A, labels = labelled_similarity(A, labels)
    ax = fresh_axes(ax, 4.2, 4.2)
    n = A.shape[0]
    order = np.arange(n) if labels is None else cluster_order(labels)
    _draw_tiles(ax, binned_similarity(A, order, max_size), n)
    if labels is None:
        ax.set(xticks=[], yticks=[], xlabel=f"{n:,} samples")
    else:
        draw_frames(ax, np.asarray(labels), max_size)
    return ax


def plot_before_after(
    A: SimilarityLike, labels: ArrayLike | None = None, *, max_size: int = 300, random_state: int = 0
) -> Figure:
    """Draw the same similarities twice: samples in random order, and ordered by cluster.

    Parameters
    ----------
    A, labels
        A fitted estimator, or similarities and the cluster of each sample; see :func:`plot_similarity`.
    max_size : int
        Largest number of tiles on a side.
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
    A, labels = labelled_similarity(A, labels)
    if labels is None:
        raise InputError("plot_before_after needs clusters: give labels, or a fitted model.")
    figure, (before, after) = matplotlib_module().subplots(1, 2, figsize=(8.0, 4.4), layout="compressed")
    n = A.shape[0]
    order = np.random.default_rng(random_state).permutation(n)
    _draw_tiles(before, binned_similarity(A, order, max_size), n)
    before.set(xticks=[], yticks=[], xlabel=f"{n:,} samples", title="before: random order")
    plot_similarity(A, labels, after, max_size=max_size)
    after.set(title="after: ordered by cluster")
    return figure


def cluster_order(labels: ArrayLike) -> Array:
    """Numbers of samples by cluster, in the given order inside each; those in no cluster, −1, come last."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InputError(f"labels has shape {array.shape}; expected a list with the cluster of each sample.")
    return np.argsort(_none_last(array), kind="stable")


def _none_last(labels: Array) -> Array:
    """Labels with a number above all others in the place of −1, which stands for no cluster."""
    return np.where(labels == -1, labels.max(initial=-1) + 1, labels) if labels.dtype.kind in "if" else labels


def labelled_similarity(A: Any, labels: Any) -> tuple[Any, Any]:
    """Similarities and labels; those of a fitted model, if that is given."""
    name = type(A).__name__
    if hasattr(A, "fit"):
        check_is_fitted(A, "labels_")
    if hasattr(A, "labels_"):
        if getattr(A, "affinity_matrix_", None) is None:
            raise InputTypeError(
                f"{name} has no affinity_matrix_ to draw. Give similarities and labels, for example "
                "plot_similarity(A, model.labels_)."
            )
        return A.affinity_matrix_, A.labels_ if labels is None else labels
    if isinstance(A, list | tuple):
        A = np.asarray(A)
    if not hasattr(A, "shape") or np.dtype(getattr(A, "dtype", float)).kind not in "biuf":
        raise InputTypeError(
            f"Similarities cannot be read from {name}: give a fitted model, or an array, sparse array or "
            "operator with a row and a column for each sample. Of a graph, give the matrix of its weights."
        )
    return A, labels


def draw_frames(ax: Axes, labels: Array, most: int) -> None:
    """Frame the clusters of samples drawn in their order, and name them; `most` is the number of tiles."""
    names, sizes = np.unique(_none_last(labels), return_counts=True)
    names, has_rest = names.tolist(), labels.dtype.kind in "if" and bool((labels == -1).any())
    if has_rest:
        names[-1] = "none"
    n, ends = len(labels), np.cumsum(sizes)
    starts = ends - sizes
    # A frame is an object of matplotlib's: hundreds of thousands take minutes, and are no wider than a line.
    large = sizes >= n / most if len(names) > most else np.full(len(names), True)
    for start, end in zip(starts[large], ends[large], strict=True):
        x = [start, end, end, start, start]
        ax.plot(x, [start, start, end, end, start], color=BORDER, linewidth=0.8)
    few = len(names) <= MOST_NAMES
    n_clusters = len(names) - has_rest
    clusters = f"{n_clusters:,} cluster{'s' * (n_clusters != 1)}"
    ax.set(xlim=(0, n), ylim=(n, 0), xticks=[], xlabel=f"{n:,} samples in {clusters}")
    # Names are text, not formulas in dollar signs.
    shown = [showable(str(name)) for name in names] if few else []
    ax.set_yticks((starts + ends) / 2 if few else [], shown, parse_math=False)
    ax.tick_params(length=0)


def binned_similarity(A: Any, order: Array, max_size: int) -> Array:
    """Mean similarity in each tile of a grid over A[order][:, order], at most `max_size` tiles a side.

    With S (n × bins) marking the bin of each sample, the sums are Sᵀ A S: one sparse product for a stored
    matrix, products with a few columns at a time for anything else that has ``@``. No n × n array is made.
    """
    n = A.shape[0]
    if A.shape != (n, n) or len(order) != n:
        raise InputError(
            f"The similarity has shape {A.shape} and there are {len(order)} labels; expected a row, a column "
            "and a label for each sample."
        )
    check_number("max_size", max_size, least=1, whole=True)
    bins = min(n, max_size)
    bin_of = np.empty(n, dtype=np.intp)
    bin_of[order] = np.arange(n) * bins // n
    S = csr_array((np.ones(n), bin_of, np.arange(n + 1)), shape=(n, bins))
    counts = np.bincount(bin_of, minlength=bins)
    return block_sums(A, S) / np.outer(counts, counts)


def block_sums(A: Any, S: csr_array) -> Array:
    """Sᵀ A S, the sums of A over pairs of groups; S (n × groups) marks the group of each sample."""
    stored = isinstance(A, np.ndarray) or issparse(A)
    if stored:
        return csr_array(S.T @ (A @ S)).toarray()
    columns = split(S.shape[1], COLUMNS)
    return np.hstack([S.T @ np.asarray(A @ S[:, block].toarray()) for block in columns])


def _draw_tiles(ax: Axes, tiles: Array, n: int) -> None:
    """Fill `ax` with tiles; its coordinates count the n samples, whatever the number of tiles."""
    # A few very similar pairs would leave all others pale: full colour starts at the 99th percentile.
    sizes = np.abs(tiles[tiles != 0])
    top = float(np.quantile(sizes, 0.99)) if sizes.size else 1.0
    colours = _signed(top) if tiles.min() < 0 else _from_page(ax, top)
    # Nearest: smoothing would blur single pairs and, with its many colours, make files several times as
    # large.
    ax.imshow(tiles, extent=(0, n, n, 0), interpolation="nearest", **colours)


def _signed(top: float) -> dict[str, Any]:
    return {"cmap": SIGNED_MAP, "vmin": -top, "vmax": top}


def _from_page(ax: Axes, top: float) -> dict[str, Any]:
    """Colours that start at the page's own, so that zeros vanish; the power lifts small similarities."""
    colors = matplotlib_module("colors")
    scale = [ax.get_facecolor(), *similarity_colours(is_dark(ax))]
    return {
        "cmap": colors.LinearSegmentedColormap.from_list("similarity", scale, N=32),
        "norm": colors.PowerNorm(0.6, vmin=0.0, vmax=top, clip=True),
    }
