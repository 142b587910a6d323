"""Random pairs of nodes in memory and time of the pairs drawn, not of all pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


def partition_pairs(
    sizes: NDArray[np.integer], inside: float, outside: float, rng: np.random.Generator
) -> Pairs:
    """Pairs of nodes in clusters of the given sizes, laid one after the other.

    Each pair of one cluster is taken with probability `inside`, each other pair with `outside`. Pairs are
    drawn from all nodes for the second kind and those of one cluster dropped again, which costs at most as
    much as the first kind while ``outside <= inside``.
    """
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    i, j = random_pairs(len(cluster), outside, rng)
    between = cluster[i] != cluster[j]
    rows, columns = [i[between]], [j[between]]
    for start, size in zip(np.cumsum(sizes) - sizes, sizes, strict=True):
        i, j = random_pairs(int(size), inside, rng)
        rows.append(i + start)
        columns.append(j + start)
    return np.concatenate(rows), np.concatenate(columns)


def random_pairs(n: int, probability: float, rng: np.random.Generator) -> Pairs:
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


def symmetric(i: NDArray[np.int64], j: NDArray[np.int64], n: int, diagonal: float = 0.0) -> csr_array:
    """Return the symmetric matrix with ones at the pairs, each given once, and a constant diagonal."""
    own = np.arange(n if diagonal else 0)
    values = np.concatenate([np.ones(2 * len(i)), np.full(len(own), diagonal)])
    rows, columns = np.concatenate([i, j, own]), np.concatenate([j, i, own])
    return coo_array((values, (rows, columns)), shape=(n, n)).tocsr()
