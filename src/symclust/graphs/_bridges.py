"""Pieces of a graph of neighbours, joined by their shortest bridges."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from symclust._types import Array, Features
from symclust.graphs._neighbors import pair_distances

MANY_PIECES = 500  # that are joined: each costs some passes over all samples
SHORTEST = 0.1  # of the mean weight of an edge: the weight of the shortest bridge


def pieces_of(A: sparse.csr_array) -> list[Array]:
    """Return the samples of each connected piece of a graph; those without edges are in none."""
    n_pieces, piece = connected_components(A, directed=False)
    sizes = np.bincount(piece, minlength=n_pieces)
    ends = np.split(np.argsort(piece, kind="stable"), np.cumsum(sizes)[:-1])
    return [members for members in ends if members.size > 1]


def bridged(E: sparse.csr_array, pieces: list[Array], X: Features) -> sparse.csr_array:
    """Return E with an edge along each bridge of a tree that joins its pieces.

    As in Borůvka's spanning tree each piece but the largest is joined to the nearest other, and so on until
    there is one. Bridges weigh less than edges, and less by the square of their lengths.
    """
    bridges: list[tuple[int, int, float]] = []
    while len(pieces) > 1:
        place = np.full(E.shape[0], -1)
        for number, members in enumerate(pieces):
            place[members] = number
        largest = int(np.argmax([members.size for members in pieces]))
        found = [_bridge(X, place, number) for number in range(len(pieces)) if number != largest]
        into = np.arange(len(pieces))
        for bridge in sorted(found, key=lambda one: one[2]):
            one, other = into[place[[bridge[0], bridge[1]]]]
            if one != other:  # two pieces may have found different bridges to each other
                bridges.append(bridge)
                into[into == other] = one
        pieces = [np.flatnonzero((place >= 0) & (into[place] == number)) for number in np.unique(into)]
    i, j, lengths = map(np.array, zip(*bridges, strict=True))
    weights = SHORTEST * E.data.mean() * (lengths.min() / lengths) ** 2
    half = sparse.coo_array((weights.astype(E.dtype), (i, j)), shape=E.shape).tocsr()
    return sparse.csr_array(E + half.maximum(half.T))


def _bridge(X: Features, place: Array, number: int) -> tuple[int, int, float]:
    """Return a sample of a piece, one of the others, and their distance: neither end has a nearer one.

    They are found by turns, from the first sample of the piece, in a few passes over X.
    """
    inside, outside = place == number, (place >= 0) & (place != number)
    numbers = np.arange(X.shape[0])

    def nearest(own: int, among: Array) -> tuple[int, float]:
        far = np.where(among, pair_distances(X, X, np.full_like(numbers, own), numbers), np.inf)
        return int(far.argmin()), float(far.min())

    end, length = int(inside.argmax()), np.inf
    while True:
        other, _ = nearest(end, outside)
        end, shorter = nearest(other, inside)
        if shorter >= length:
            return end, other, shorter
        length = shorter
