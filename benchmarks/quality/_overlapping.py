"""Overlapping LFR graphs, and what finds communities that overlap."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse import csr_array

from benchmarks._graphs import as_igraph
from benchmarks.quality._runs import Score
from symclust import OffDiagonalSymNMF, SymNMF
from symclust.datasets import overlapping_lfr
from symclust.metrics import overlapping_f1, overlapping_nmi

NODES = 2000
# Share of overlapping nodes, communities of each, mixing
GRAPHS = [
    (share, m, mixing)
    for mixing in (0.1, 0.3)
    for share, m in ((0.1, 2), (0.3, 2), (0.5, 2), (0.3, 3), (0.1, 4))
]


def title(share: float, m: int, mixing: float) -> str:
    return f"{share:.0%} in {m}, mixing {mixing}"


@cache
def graph(share: float, m: int, mixing: float, seed: int) -> tuple[csr_array, csr_array]:
    return overlapping_lfr(NODES, mixing, int(share * NODES), m, random_state=seed)


def cover_scores(memberships: csr_array) -> Score:
    return lambda communities: {
        "NMI": overlapping_nmi(memberships, communities),
        "F1": overlapping_f1(memberships, communities),
        "clusters": len(communities),
    }


class Overlapping:
    """Methods on one graph that end with a threshold: they are fitted once for all thresholds."""

    def __init__(self, A: csr_array, k: int, seed: int) -> None:
        self.A, self.k, self.seed = A, k, seed
        self._fitted: dict[str, Any] = {}

    def _once(self, name: str, fit: Callable[[], Any]) -> Any:
        if name not in self._fitted:
            self._fitted[name] = fit()
        return self._fitted[name]

    def sym_nmf(self, threshold: float) -> Any:
        fit = SymNMF(self.k, random_state=self.seed).fit
        return self._once("SymNMF", lambda: fit(as_igraph(self.A))).communities(threshold=threshold)

    def sym_nmf_precomputed(self, threshold: float) -> Any:
        fit = SymNMF(self.k, affinity="precomputed", random_state=self.seed).fit
        return self._once("precomputed", lambda: fit(self.A)).communities(threshold=threshold)

    def off_diagonal(self, threshold: float) -> Any:
        fit = OffDiagonalSymNMF(self.k, random_state=self.seed).fit
        return self._once("OffDiagonal", lambda: fit(as_igraph(self.A))).communities(threshold=threshold)

    def off_diagonal_precomputed(self, threshold: float) -> Any:
        fit = OffDiagonalSymNMF(self.k, affinity="precomputed", random_state=self.seed).fit
        return self._once("off, precomputed", lambda: fit(self.A)).communities(threshold=threshold)

    def slpa(self, threshold: float) -> Any:
        memory = self._once("SLPA", lambda: speaker_listener(self.A, self.seed))
        return frequent_labels(memory, threshold)


def speaker_listener(A: csr_array, seed: int, rounds: int = 100) -> np.ndarray:
    """Return the labels that nodes have heard, n × (rounds + 1): SLPA (Xie, Szymanski and Liu 2011).

    In each round every node hears a label from each neighbour, drawn from the neighbour's memory, and keeps
    the one heard most. All nodes listen at once.
    """
    rng = np.random.default_rng(seed)
    n = A.shape[0]
    listener, speaker = A.nonzero()
    memory = np.empty((n, rounds + 1), dtype=np.int64)
    memory[:, 0] = np.arange(n)
    for turn in range(1, rounds + 1):
        heard = memory[speaker, rng.integers(turn, size=len(speaker))]
        pairs, counts = np.unique(listener * n + heard, return_counts=True)
        order = np.argsort(counts + rng.random(len(pairs)))  # ties at random; the last one written stays
        memory[:, turn] = memory[:, 0]
        memory[pairs[order] // n, turn] = pairs[order] % n
    return memory


def frequent_labels(memory: np.ndarray, threshold: float) -> list[np.ndarray]:
    """Return the nodes that have each label in at least a share of their memory."""
    n, length = memory.shape
    pairs, counts = np.unique(np.arange(n)[:, np.newaxis] * n + memory, return_counts=True)
    node, label = np.divmod(pairs[counts >= threshold * length], n)
    order = np.argsort(label, kind="stable")
    return np.split(node[order], np.flatnonzero(np.diff(label[order])) + 1)


def k_cliques(A: csr_array, size: int) -> list[frozenset[int]]:
    """Return the communities of clique percolation (Palla and others 2005)."""
    return list(nx.community.k_clique_communities(nx.from_scipy_sparse_array(A), size))
