"""A random graph with clusters planted in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from symclust.datasets._pairs import partition_pairs, symmetric
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
    sizes = np.diff(np.arange(n_clusters + 1) * n_samples // n_clusters)
    i, j = partition_pairs(sizes, inside, outside, rng)
    shuffle = rng.permutation(n_samples)
    y = np.empty(n_samples, dtype=np.intp)
    y[shuffle] = np.repeat(np.arange(n_clusters), sizes)
    return symmetric(shuffle[i], shuffle[j], n_samples), y


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
