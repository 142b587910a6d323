"""Labels read off memberships, samples that belong nowhere, and degenerate clusterings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from symclust._types import Array
from symclust.exceptions import DegenerateWarning, warn
from symclust.operators import Operator

NOWHERE = -1  # the label of a sample in no cluster, as in scikit-learn's DBSCAN
LEAST_REST = 0.1  # of what all clusters but the largest would hold if all were alike in size


class Advice(NamedTuple):
    """Advice about samples that belong nowhere, and about degenerate clusterings."""

    nowhere: str
    clusters: str


OF_SIMILARITIES = Advice(
    "A larger n_neighbors in affinity_params, or an affinity that reaches further, connects them to others.",
    "Try another affinity (affinity='random_walk' for networks, a larger n_neighbors in affinity_params for "
    "vectors) or another n_clusters.",
)
OF_FEATURES = Advice(
    "Leave out samples without entries; more clusters may explain others.",
    "Try another n_clusters, another init, or features weighted or scaled otherwise.",
)


def labels_of(H: Any) -> Array:
    """The column of the largest entry of each row, the first of equal ones; −1 for a row of zeros."""
    if not sparse.issparse(H):
        return np.where(H.any(axis=1), H.argmax(axis=1), NOWHERE)
    labels = np.full(H.shape[0], NOWHERE, dtype=np.intp)
    filled = np.flatnonzero(np.diff(H.indptr))
    if filled.size:
        starts = H.indptr[filled]  # rows without entries take no room between these
        largest = np.maximum.reduceat(H.data, starts)
        is_largest = H.data == np.repeat(largest, np.diff(H.indptr)[filled])
        first = np.minimum.reduceat(np.where(is_largest, H.indices, H.shape[1]), starts)
        labels[filled] = np.where(largest > 0, first, NOWHERE)
    return labels


def empty_rows(H: Any) -> Array:
    """A mask of the rows of memberships, dense or CSR, that hold nothing but zeros."""
    if sparse.issparse(H):
        return np.bincount(H.tocoo().coords[0], weights=H.data != 0, minlength=H.shape[0]) == 0
    return ~H.any(axis=1)


def memberships_of(labels: Array, n_clusters: int, dtype: Any) -> Array:
    """A one at each sample's cluster, n × k; zeros alone for samples in none."""
    H = np.zeros((len(labels), n_clusters), dtype=dtype)
    placed = np.flatnonzero(labels >= 0)
    H[placed, labels[placed]] = 1
    return H


def leave_out_isolated(labels: Array, A: Operator) -> Array:
    """The labels with −1 for samples that are similar to no other, unless one is a cluster by itself.

    Methods that place every sample put these somewhere too, by rounding or by the order of clusters.
    """
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    return np.where(_isolated(A) & (sizes[labels] > 1), NOWHERE, labels)


def _isolated(A: Operator) -> Array:
    """A mask of the samples with no similarity, or with one to themselves alone, up to rounding."""
    isolated = A.isolated()
    if A.rows_are_cheap or A.on_device:  # elsewhere a diagonal may take n products
        weights = np.random.default_rng(0).uniform(1, 2, A.n)  # similarities of both signs do not cancel
        own = A.diagonal() * weights
        isolated |= np.abs(A @ weights - own) <= 8 * np.finfo(A.dtype).eps * np.abs(own)
    return isolated


# Warnings of every fit --------------------------------------------------------------------------------------


def warn_of_degenerate(
    name: str, labels: Array, n_clusters: int, advice: Advice, names: Sequence[Any] | None = None
) -> None:
    """Warn of samples in no cluster, of clusters without samples, and of one with nearly all samples.

    The message begins with the `name` of the estimator and ends with `advice`; `names` are those of samples.
    """
    _warn_of_nowhere(name, labels, advice.nowhere, names)
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
    found, largest = np.count_nonzero(sizes), int(sizes.max())
    if 0 < found < n_clusters:
        warn(
            f"{name} found {found} of the {n_clusters} clusters asked for: no sample has its label in the "
            f"other {n_clusters - found}. {advice.clusters}",
            DegenerateWarning,
        )
    if found > 1 and is_lopsided(sizes):
        warn(
            f"{name}: one of {found} clusters holds {largest:,} of {len(labels):,} samples "
            f"({largest / len(labels):.1%}), all others {sizes.sum() - largest:,}. {advice.clusters}",
            DegenerateWarning,
        )


def is_lopsided(sizes: Array) -> bool:
    """Whether all clusters but the largest hold less than a tenth of their share by equal sizes.

    With two clusters that is below 5 % of the samples, with many below 10 %.
    """
    fair = sizes.sum() * (1 - 1 / len(sizes))
    return bool(sizes.sum() - sizes.max() < LEAST_REST * fair)


def _warn_of_nowhere(name: str, labels: Array, advice: str, names: Sequence[Any] | None) -> None:
    nowhere = np.flatnonzero(labels < 0)
    if nowhere.size:
        first = nowhere[0] if names is None else names[nowhere[0]]
        warn(
            f"{name}: {nowhere.size} of {len(labels)} samples belong to no cluster (the first: {first}): "
            f"this happens to samples with little in common with others. Their label is -1. {advice}",
            DegenerateWarning,
        )
