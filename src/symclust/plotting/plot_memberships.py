"""How much each sample belongs to each cluster, as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array, issparse
from sklearn.utils.validation import check_is_fitted

from symclust._types import Array, Fitted
from symclust.exceptions import InputError, InputTypeError
from symclust.plotting._style import Axes, fresh_axes, is_dark, matplotlib_module, similarity_colours
from symclust.plotting.plot_similarity import cluster_order
from symclust.validation import check_number

MOST_TICKS = 25


def plot_memberships(
    model: Fitted, labels: ArrayLike | None = None, ax: Axes | None = None, *, max_size: int = 400
) -> Axes:
    """Draw the share of each cluster in each sample, the samples ordered by cluster.

    Rows are samples, columns clusters. A sample that belongs to one cluster is one dark mark; a row with
    several marks belongs to several. Within a cluster, samples come in the order of their shares, so that the
    length of the pale end shows how many are doubtful. More than `max_size` samples are averaged over tiles.

    Parameters
    ----------
    model : fitted estimator, or array-like or sparse array of shape (n_samples, n_clusters)
        A model with ``membership_``, or memberships themselves; negative ones count as zero.
    labels : array-like of shape (n_samples,), optional
        Cluster of each sample, −1 for none; by default the model's ``labels_``, or the largest membership.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    max_size : int
        The most rows of tiles.

    Examples
    --------
    >>> from symclust.plotting import plot_memberships
    >>> plot_memberships([[0.9, 0.1], [0.2, 0.6], [0.0, 0.5]]).get_ylabel()
    '3 samples'
    """
    check_number("max_size", max_size, least=1, whole=True)
    shares, labels = _read(model, labels)
    ax = fresh_axes(ax, 4.2, 4.6)
    n, k = shares.shape
    own = np.zeros(n)
    placed = np.flatnonzero(labels >= 0)
    own[placed] = shares[placed, labels[placed]]
    by_share = np.argsort(-own, kind="stable")
    tiles = _tiles(shares, by_share[cluster_order(labels[by_share])], max_size)
    scale = [ax.get_facecolor(), *similarity_colours(is_dark(ax))]
    colours = matplotlib_module("colors").LinearSegmentedColormap.from_list("shares", scale)
    image = ax.imshow(
        tiles,
        extent=(-0.5, k - 0.5, n, 0),
        aspect="auto",
        interpolation="nearest",
        cmap=colours,
        vmin=0,
        vmax=1,
    )
    ax.figure.colorbar(image, ax=ax, label="share of the memberships of a sample", shrink=0.85)
    ax.set(xlabel="cluster", ylabel=f"{n:,} samples", yticks=[])
    if k <= MOST_TICKS:
        ax.set_xticks(range(k))
    for end in np.cumsum(np.bincount(labels[labels >= 0], minlength=k))[:-1]:
        ax.axhline(end, color=ax.xaxis.label.get_color(), linewidth=0.3, alpha=0.5)
    return ax


def _read(model: Any, labels: Any) -> tuple[csr_array, Array]:
    """Each row of memberships divided by its sum, and the cluster of each sample."""
    if hasattr(model, "fit"):
        check_is_fitted(model, "labels_")
    H = getattr(model, "membership_", getattr(model, "membership", model))
    shape, kind = np.shape(H), getattr(H, "dtype", np.asarray(H).dtype if not issparse(H) else None)
    if len(shape) != 2 or np.dtype(kind).kind not in "biuf":
        raise InputTypeError(
            f"Memberships cannot be read from {type(model).__name__}: give a fitted model with membership_, "
            "or an array with one row per sample and one column per cluster."
        )
    H = csr_array(H, dtype=np.float64)
    H.data = np.maximum(H.data, 0)
    sums = H @ np.ones(shape[1])
    shares = csr_array(diags_array(np.divide(1.0, sums, out=np.zeros(len(sums)), where=sums > 0)) @ H)
    if labels is None:
        labels = getattr(model, "labels_", getattr(model, "labels", None))
    if labels is None:
        labels = np.where(sums > 0, np.asarray(shares.argmax(axis=1)).ravel(), -1)
    labels = np.asarray(labels)
    if labels.shape != (shape[0],) or labels.dtype.kind not in "iu" or labels.max(initial=-1) >= shape[1]:
        raise InputError(
            f"labels must be {shape[0]} whole numbers, columns of the {shape[0]} × {shape[1]} memberships or "
            "-1."
        )
    return shares, labels


def _tiles(shares: csr_array, order: Array, max_size: int) -> Array:
    """The mean shares of at most `max_size` groups of neighbouring samples."""
    n = len(order)
    bins = min(n, max_size)
    bin_of = np.arange(n) * bins // max(n, 1)
    S = csr_array((np.ones(n), (bin_of, order)), shape=(bins, n))
    return csr_array(S @ shares).toarray() / np.bincount(bin_of, minlength=bins)[:, np.newaxis]
