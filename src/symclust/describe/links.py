"""Communities by the links of a network: their central nodes, their borders and neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from symclust._types import Array
from symclust.describe._members import central, indicator, inside
from symclust.describe.description import Trait
from symclust.describe.evidence import Evidence

__all__ = ["Links"]

CENTRES, NEIGHBOURS, TYPICAL = 3, 3, 6


@dataclass(frozen=True, eq=False)
class Links(Evidence):
    """The links of a network, and the names of its nodes."""

    A: sparse.csr_array  # weights, without loops
    names: Sequence[Any] | None = None

    @classmethod
    def find(cls, model: Any) -> Links | None:
        """The links of the network that a model was fitted to; None for other data."""
        network = getattr(model, "network_", None)
        if network is None:
            return None
        loops = sparse.diags_array(network.diagonal(), format="csr")
        links = sparse.csr_array(network - loops)
        links.eliminate_zeros()
        return cls(links, getattr(model, "node_names_", None))

    def traits(self, labels: Array, n_clusters: int) -> list[list[Trait]]:
        """Central nodes for the name of each cluster, then links inside and outside, and neighbours."""
        strength, Z = inside(self.A, labels, n_clusters), indicator(labels, n_clusters)
        ones = self.A.copy()
        ones.data = np.ones_like(ones.data)
        weights, counts = (sparse.csr_array(Z.T @ (M @ Z)) for M in (self.A, ones))
        # Links to nodes in no cluster leave a cluster as well.
        total, n_ends = Z.T @ self.A.sum(axis=1), Z.T @ ones.sum(axis=1)
        centres = central(strength, labels, n_clusters, CENTRES)
        return [
            [
                *self._centres(centres[c].tolist()),
                Trait(_of_links(counts[c, c] / 2, n_ends[c], weights[c, c], total[c])),
                Trait(_neighbours(weights, counts, c)),
            ]
            for c in range(n_clusters)
        ]

    def typical(self, labels: Array, n_clusters: int) -> list[list[str]]:
        """The nodes with most links inside."""
        nodes = central(inside(self.A, labels, n_clusters), labels, n_clusters, TYPICAL)
        return [[str(self._name(i)) for i in own] for own in nodes]

    def _name(self, node: int) -> Any:
        return node if self.names is None else self.names[node]

    def _centres(self, nodes: list[int]) -> list[Trait]:
        names = [self._name(i) for i in nodes]
        are_numbers = all(isinstance(name, int) for name in names)
        shown = [f"{'nodes ' * (are_numbers and not rank)}{name}" for rank, name in enumerate(names)]
        return [Trait("", short, str(name)) for short, name in zip(shown, names, strict=True)]


def _of_links(within: float, ends: float, weight: float, all_weight: float) -> str:
    share = weight / all_weight if all_weight else 1.0
    return f"{_counted(within)} inside, {ends - 2 * within:,.0f} to others ({share:.0%} of the weight inside)"


def _neighbours(weights: sparse.csr_array, counts: sparse.csr_array, c: int) -> str:
    row = weights[[c]].toarray()[0]
    row[c] = 0
    near = [d for d in np.argsort(-row, kind="stable")[:NEIGHBOURS].tolist() if row[d] > 0]
    listed = [f"cluster {d} ({_counted(counts[c, d])})" for d in near]
    return f"next to {', '.join(listed)}" if listed else "no links to other clusters"


def _counted(links: float) -> str:
    return "1 link" if links == 1 else f"{links:,.0f} links"
