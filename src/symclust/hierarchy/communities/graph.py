"""The graph of a cluster's nodes, ready to be cut in two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from symclust import _kernels
from symclust._threads import split
from symclust._types import Array
from symclust.exceptions import CombinationError
from symclust.operators import Dense, Operator, Sparse

# Of a coarser graph: the most degrees in one node, in multiples of their share if all nodes had the same.
LARGEST_NODE = 4.5
# The largest share of the edges that joining nodes may leave: graphs of neighbours keep 0.6, random ones and
# networks of communities without many triangles 0.8 and more (docs/evidence/trees.md).
FALLEN_TOGETHER = 0.7
ROWS = 1 << 15  # looked at together


@dataclass(frozen=True)
class Bisection:
    """A cut of a graph in two.

    `right` marks the nodes that go right, never the first one. `association` has the sums of the weights
    inside the left and the right part, each edge from both of its ends; `volume` has those of the degrees in
    the whole graph. `value` is the gain in normalised association, less if one part is small; it compares
    cuts of one graph.
    """

    right: Array
    association: Array
    volume: Array
    value: float


@dataclass(frozen=True)
class LeafGraph:
    """A part of a graph: the edges among its nodes, in the layout of the kernels.

    `indptr` (int64), `indices` (int32) and `weights` (float32 or float64) are CSR without the diagonal, which
    is in `loops`. `volumes` has the degree of each node in the whole graph, and `sizes` the number of nodes
    there that each stands for: 1, unless nodes were joined (`coarser`).
    """

    indptr: Array
    indices: Array
    weights: Array
    loops: Array
    volumes: Array
    sizes: Array

    @classmethod
    def whole(cls, operator: Operator) -> LeafGraph:
        """Return all of a graph, given by a symmetric and nonnegative operator that holds a matrix.

        Without loops and stored zeros the arrays of the matrix are used as they are, not copied.
        """
        A = _as_csr(operator)
        n, loops = A.shape[0], A.diagonal().astype(np.float64)
        volumes, indptr, indices, weights = A @ np.ones(n), A.indptr, A.indices, A.data
        if loops.any() or (A.data.size and A.data.min() <= 0):  # zeros are no edges; loops are kept apart
            edges, counts = _find_edges(A)
            indptr, indices, weights = np.r_[0, np.cumsum(counts)], A.indices[edges], A.data[edges]
        indptr, indices = indptr.astype(np.int64, copy=False), indices.astype(np.int32, copy=False)
        return cls(indptr, indices, weights, loops, volumes, np.ones(n))

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.loops)

    def association(self) -> float:
        """Return the sum of all weights, each edge from both of its ends."""
        return float(self.weights.sum(dtype=np.float64) + self.loops.sum())

    def part(self, index: Array) -> LeafGraph:
        """Return the graph of some of the nodes, given by their numbers; time linear in their edges."""
        members = np.ascontiguousarray(index, dtype=np.int32)
        place = np.full(self.n, -1, dtype=np.int32)
        place[members] = np.arange(len(members), dtype=np.int32)
        indptr, none = np.empty(len(members) + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
        given = (self.indptr, self.indices, self.weights, members, place, indptr)
        _kernels.subgraph(*given, none, self.weights[:0])
        indices, weights = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], self.weights.dtype)
        _kernels.subgraph(*given, indices, weights)
        of_nodes = (numbers[members] for numbers in (self.loops, self.volumes, self.sizes))
        return LeafGraph(indptr, indices, weights, *of_nodes)

    def coarser(self, n_nodes: int, seed: int) -> tuple[LeafGraph, Array]:
        """Return a smaller graph with nearly the same good cuts, and the number there of each of our nodes.

        Each node is joined to the one it has the heaviest edge to, compared with the degree there, again and
        again until at most `n_nodes` are left; this graph itself is returned where that is so already. It
        ends earlier if joining no longer removes a fair share of the edges: nodes that belong together have
        the same neighbours, so that edges fall together; if they do not, pairs are as good as chance, and
        cutting the smaller graph would be little faster. Takes the time of a few passes over the edges.
        """
        graph, group = self, np.arange(self.n, dtype=np.int32)
        limit = LARGEST_NODE * self.association() / max(n_nodes, 1)
        while graph.n > n_nodes:
            joined, *arrays = _kernels.coarsen_graph(*graph._arrays, limit, seed)
            smaller = LeafGraph(*arrays)
            if len(smaller.indices) >= FALLEN_TOGETHER * len(graph.indices):
                break
            graph, group = smaller, joined[group]
        return graph, group

    def joined(
        self, seed: int, fence: Array | None = None, resolution: float = 1.0
    ) -> tuple[LeafGraph, Array]:
        """Return the graph of groups that local moves make of single nodes, and the group of each node.

        Node by node, in random order, each goes to the group nearby where it raises the modularity the most,
        until none does: one level of Louvain's method. Groups have no limit of size, unlike in `coarser`;
        only nodes with the same number in `fence` may be joined.
        """
        fence = np.empty(0, dtype=np.int32) if fence is None else fence
        group, *arrays = _kernels.join_nodes(*self._arrays, fence, resolution, seed)
        return LeafGraph(*arrays), group

    def contracted(self, group: Array) -> LeafGraph:
        """Return the graph of given groups, numbered from 0 on with none empty."""
        _, *arrays = _kernels.contract_graph(*self._arrays, group)
        return LeafGraph(*arrays)

    def moved(
        self, labels: Array, n_clusters: int, smallest: int, both: bool, resolution: float = 1.0
    ) -> Array:
        """Return labels after local moves between clusters: none is left that raises the modularity.

        A node goes to the cluster nearby where it raises the modularity the most, and its neighbours are
        looked at again. At a resolution γ that is Σ assoc(C, C) − γ vol(C)² / vol(V). With `both`, only moves
        that raise the normalised association Σ assoc(C, C) / vol(C) too. A cluster keeps `smallest` nodes of
        the whole graph; 0 lets clusters become empty. Takes a few passes over the edges, on one thread.
        """
        labels = labels.copy()
        _kernels.move_nodes(*self._arrays, n_clusters, smallest, both, resolution, labels)
        return labels

    @property
    def _arrays(self) -> tuple[Array, ...]:
        return self.indptr, self.indices, self.weights, self.loops, self.volumes, self.sizes

    def bisect(self, balance: float, smallest: int, seed: int) -> Bisection | None:
        """Return a good normalised cut, None if there is none with `smallest` nodes on both sides.

        The gain of a cut is multiplied by (10 s)^balance if its smaller side has a share s < 1/10 of the
        volume. The order of coarsening and the starts are random.
        """
        if self.sizes.sum() < 2 * smallest or self.n < 2:
            return None
        side, sums = np.empty(self.n, dtype=np.uint8), np.empty((3, 2))
        value = _kernels.bisect_graph(*self._arrays, balance, smallest, seed, side, sums)
        return Bisection(side.astype(bool), sums[0], sums[1], value) if value > -np.inf else None


def _find_edges(A: csr_array) -> tuple[Array, Array]:
    """Return which entries are positive and off the diagonal, and how many in each row.

    In blocks of rows: the row of each entry at once would take a third as much memory as A.
    """
    edges, counts = A.data > 0, np.empty(A.shape[0], dtype=np.int64)
    for rows in split(A.shape[0], ROWS):
        block, own = A.indptr[rows.start : rows.stop + 1], slice(A.indptr[rows.start], A.indptr[rows.stop])
        row = np.repeat(np.arange(rows.start, rows.stop), np.diff(block))
        edges[own] &= A.indices[own] != row
        counts[rows] = np.bincount(row[edges[own]] - rows.start, minlength=len(block) - 1)
    return edges, counts


def _as_csr(operator: Operator) -> csr_array:
    """Return a similarity as CSR, and refuse one that is not held as a matrix."""
    if isinstance(operator, Sparse):
        return operator.csr
    if isinstance(operator, Dense):
        return Sparse(csr_array(operator.array)).csr
    if operator.is_remote:
        raise CombinationError(
            f"Communities are cut along the edges of a graph, and those of {operator!r} lie with workers. "
            "Bring the graph here if it fits, as a sparse matrix, or choose SymNMF with init='merge'."
        )
    raise CombinationError(
        f"Communities are cut along the edges of a graph, and {operator!r} has none at hand: it "
        "only multiplies. Give a sparse matrix or a graph, or keep the largest similarities of each "
        "sample, for example with affinity_params={'n_neighbors': 20}."
    )
