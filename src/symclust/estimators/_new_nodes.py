"""Nodes that join a graph after the normalised cut."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from symclust.graphs import degrees, inverse_roots, scale


class NewNodes:
    """Scales the edge weights of new nodes as the normalised cut scaled those of the graph.

    A new node with the edges of an old one gets the old one's row of A, to the bit.
    """

    def __init__(self, adjacency: sparse.csr_array) -> None:
        self._roots = inverse_roots(degrees(adjacency), adjacency.dtype)

    def extend(self, X: Any) -> sparse.csr_array:
        """Return the similarities of new nodes, given by the weights of their edges to the graph's nodes."""
        E = sparse.csr_array(X, dtype=self._roots.dtype, copy=True)
        scale(E, inverse_roots(degrees(E), E.dtype), self._roots)  # (25)
        return E
