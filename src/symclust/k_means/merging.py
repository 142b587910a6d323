"""Clusters of unit rows that are merged pair by pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symclust._types import Array


@dataclass(frozen=True)
class Merge:
    """Cluster `other` becomes a part of cluster `one`, at a loss."""

    one: int
    other: int
    loss: float


def merges(S: Any) -> list[Merge]:
    """Return the merges of clusters to a single one, each time of the pair that loses least.

    With s the sum of a cluster's rows, their cosines with its centre s/‖s‖ add up to ‖s‖. So a merge loses
    ‖s_a‖ + ‖s_b‖ − ‖s_a + s_b‖ of what spherical k-means maximises. It takes O(k²) a merge, for k clusters
    with the sums S, k × d.
    """

    def losses(G: Array, sizes: Array, one: int) -> Array:
        squares = G.diagonal()
        lengths = np.sqrt(squares)
        return lengths + lengths[one] - np.sqrt(np.maximum(squares + squares[one] + 2 * G[one], 0))

    return _merges(S, np.ones(S.shape[0]), losses)


def uneven_merges(S: Any, sizes: Array, exponent: float) -> list[Merge]:
    """Return the merges to a single cluster by the loss (w_a w_b / (w_a + w_b))^β (1 − cos(s_a, s_b)).

    The exponent β says how much sizes w count. One is the rise in squared distances (Ward) and keeps clusters
    of one size; lower ones merge large clusters that are alike, and let small ones stand.
    """

    def losses(G: Array, sizes: Array, one: int) -> Array:
        lengths = np.sqrt(np.maximum(G.diagonal(), np.finfo(np.float64).tiny))
        weights = sizes * sizes[one] / (sizes + sizes[one])
        return weights**exponent * (1 - G[one] / (lengths * lengths[one]))

    return _merges(S, sizes.astype(np.float64), losses)


def _merges(S: Any, sizes: Array, losses_of: Callable[[Array, Array, int], Array]) -> list[Merge]:
    G = S @ S.T  # of sums with each other, k × k
    G = np.asarray(G if isinstance(G, np.ndarray) else G.toarray(), dtype=np.float64)
    sizes = sizes.copy()
    losses = np.array([losses_of(G, sizes, one) for one in range(len(G))])
    np.fill_diagonal(losses, np.inf)
    found = []
    for _ in range(len(G) - 1):
        one, other = sorted(map(int, np.unravel_index(losses.argmin(), losses.shape)))
        found.append(Merge(one, other, float(losses[one, other])))
        G[one] += G[other]
        G[:, one] += G[:, other]
        sizes[one] += sizes[other]
        losses[one] = losses[:, one] = np.where(np.isinf(losses[one]), np.inf, losses_of(G, sizes, one))
        losses[other] = losses[:, other] = np.inf
    return found


def joined(labels: Array, found: list[Merge]) -> Array:
    """Return labels after some merges, without renumbering; −1 stays."""
    into = np.arange(labels.max() + 1)
    for merge in found:
        into[into == merge.other] = merge.one
    return np.where(labels < 0, labels, into[labels])
