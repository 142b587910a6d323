"""A random graph with clusters planted in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from symclust.exceptions import InputError

__all__ = ["planted_partition"]


def planted_partition(
    n_samples: int = 1000,
    n_clusters: int = 10,
    degree: float = 20.0,
    mixing: float = 0.2,
    random_state: int | np.random.Generator | None = None,
) -> tuple[csr_array, NDArray[np.intp]]:
    """Graph whose nodes have more neighbours inside their cluster than outside.

    Clusters have equal size m (one more node in some when the numbers do not divide). Each pair inside a
    cluster is joined with probability degree (1 - mixing) / (m - 1), each other pair with degree mixing /
    (n - m), so that a node has `degree` neighbours on average and the share `mixing` of them lies outside.
    Memory and time are proportional to the number of edges: gaps between edges are drawn, not the pairs one
    by one.

    Parameters
    ----------
    n_samples, n_clusters : int
        Number of nodes and of clusters.
    degree : float
        Expected number of neighbours of a node.
    mixing : float between 0 and 1
        Expected share of a node's neighbours outside its cluster; ``1 - 1/n_clusters`` hides the clusters
        entirely.
    random_state : int, Generator or None
        Makes the graph repeatable.

    Returns
    -------
    A : csr_array of shape (n_samples, n_samples)
        Symmetric, entries 1.0, zero diagonal.
    y : ndarray of shape (n_samples,)
        The cluster of each node; nodes are in random order.

    Examples
    --------
    >>> from symclust.datasets import planted_partition
    >>> A, y = planted_partition(n_samples=300, n_clusters=3, degree=10, mixing=0.1, random_state=0)
    >>> A.shape, (A != A.T).nnz, 9 < A.nnz / 300 < 11
    ((300, 300), 0, True)
    """
    rng = np.random.default_rng(random_state)
    inside, outside = _probabilities(n_samples, n_clusters, degree, mixing)
    borders = np.arange(n_clusters + 1) * n_samples // n_clusters
    cluster = np.repeat(np.arange(n_clusters), np.diff(borders))
    i, j = _random_pairs(n_samples, outside, rng)
    between = cluster[i] != cluster[j]
    rows, columns = [i[between]], [j[between]]
    for start, size in zip(borders[:-1], np.diff(borders), strict=True):
        i, j = _random_pairs(size, inside, rng)
        rows.append(i + start)
        columns.append(j + start)
    shuffle = rng.permutation(n_samples)
    y = np.empty(n_samples, dtype=np.intp)
    y[shuffle] = cluster
    return _symmetric(shuffle[np.concatenate(rows)], shuffle[np.concatenate(columns)], n_samples), y


def _probabilities(n: int, k: int, degree: float, mixing: float) -> tuple[float, float]:
    """Chance of an edge inside a cluster and between two."""
    if not 1 <= k <= n or not 0 <= mixing <= 1 or degree < 0:
        raise InputError(
            f"n_samples={n}, n_clusters={k}, degree={degree}, mixing={mixing}; expected "
            "1 <= n_clusters <= n_samples, degree >= 0 and mixing between 0 and 1."
        )
    m = n / k
    wanted = np.array([degree * (1 - mixing), degree * mixing])
    available = np.array([m - 1, n - m])
    if (wanted > available).any():
        raise InputError(
            f"degree={degree} with mixing={mixing} asks for {wanted[0]:g} neighbours inside the cluster, "
            f"where there are {available[0]:g} others, and {wanted[1]:g} outside, where there are "
            f"{available[1]:g}: lower the degree, change the mixing or use fewer, larger clusters."
        )
    inside, outside = wanted / np.maximum(available, 1)
    return float(inside), float(outside)


def _random_pairs(
    n: int, probability: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs i < j below n, each with the given probability, decoded from its number j (j - 1) / 2 + i."""
    number = _random_subset(n * (n - 1) // 2, probability, rng)
    j = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > number  # the square root is rounded: step back where it went one too far,
    j += j * (j + 1) // 2 <= number  # and forward where it fell one short
    return number - j * (j - 1) // 2, j


def _random_subset(size: int, probability: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Members of ``range(size)``, each taken with the given probability, sorted; memory: the answer's."""
    if probability <= 0 or size == 0:
        return np.empty(0, dtype=np.int64)
    expected = size * probability
    pieces, last = [], -1
    while last < size:
        # The distance from one member to the next is geometric. Six deviations extra: a second round is rare.
        gaps = rng.geometric(probability, size=int(expected + 6 * np.sqrt(expected)) + 8)
        # A gap beyond the end ends the walk whatever its length; the cut keeps the sum from overflowing.
        pieces.append(last + np.cumsum(np.minimum(gaps, size + 1)))
        last = int(pieces[-1][-1])
    members = np.concatenate(pieces)
    return members[members < size]


def _symmetric(i: NDArray[np.int64], j: NDArray[np.int64], n: int) -> csr_array:
    pairs = (np.concatenate([i, j]), np.concatenate([j, i]))
    return coo_array((np.ones(2 * len(i)), pairs), shape=(n, n)).tocsr()
