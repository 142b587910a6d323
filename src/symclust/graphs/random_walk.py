"""Similarity of nodes by where short random walks from them end."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from scipy import sparse

from symclust import _kernels
from symclust._threads import split
from symclust._types import Array, SimilarityLike
from symclust.exceptions import CombinationError, InputError
from symclust.graphs._neighbors import index_type, union, union_among_new
from symclust.graphs.normalized_cut import row_sums
from symclust.operators import Operator, Sparse, as_operator, bordered
from symclust.validation import check_known, check_number

__all__ = ["RandomWalk", "random_walk"]

ROWS = 1 << 14  # made at a time: what is larger than the result stays small
MEASURES = ("pmi", "root")
FRONTIER = 2  # a step sets out from this many places for each one kept: the others hold little of the walk


def random_walk(
    similarity: SimilarityLike, window: int = 3, n_kept: int = 60, measure: str = "pmi"
) -> sparse.csr_array:
    r"""Compare nodes by short random walks: positive pointwise mutual information (Qiu and others 2018).

    .. math::
        m_{ij} = \log \max\Big(1, \frac{\mathrm{vol}}{T} \Big[\sum_{r=1}^T (D^{-1}W)^r D^{-1}\Big]_{ij}\Big)

    compares how often a walk of 1 to T steps from i ends at j with how often it would by chance, with W the
    weights, D their degrees and vol the sum of these. Nodes that share neighbours become similar whether an
    edge joins them or not, and a hub is similar to few. The result is meant to be factored as it is, without
    a normalised cut after it.

    Parameters
    ----------
    similarity : sparse array or matrix, ndarray, networkx or igraph graph, or Operator
        W: square, symmetric, nonnegative, not normalised. It is not changed.
    window : int, default=3
        T, the number of steps. Sparse networks gain from more, and cost grows with it; T = 1 compares nodes
        by their edges alone.
    n_kept : int, default=60
        How many entries of each row are kept, those where walks end most often; an entry stays if
        either of its two rows keeps it.
    measure : {"pmi", "root"}
        "pmi" is the formula above. "root" gives the same entries the square root of the averaged powers of
        the normalised cut, √((1/T) [Σ_r (D^-1/2 W D^-1/2)^r]_ij): nodes of large degree keep more of their
        weight, which serves networks, whose hubs are not noise.

    Returns
    -------
    M : csr_array of shape (n, n)
        Symmetric to the bit, nonnegative, with zero diagonal.

    Notes
    -----
    No n × n array is made. The result has up to 2 n · n_kept entries; while it is made it stands in memory
    about four times, 12 to 16 bytes per entry. A step sets out from the 2 · n_kept likeliest places of the
    last: if a walk of T − 1 steps reaches more, M is an approximation. A node without edges stays isolated.

    References
    ----------
    J. Qiu, Y. Dong, H. Ma, J. Li, K. Wang and J. Tang, "Network embedding as matrix factorization: unifying
    DeepWalk, LINE, PTE, and node2vec", WSDM 2018.

    Examples
    --------
    In a ring of twelve, nodes two steps apart become similar although no edge joins them:

    >>> import networkx as nx
    >>> from symclust.graphs import random_walk
    >>> ring = nx.cycle_graph(12)
    >>> random_walk(ring, window=1).toarray()[0, :4].round(2).tolist()
    [0.0, 1.79, 0.0, 0.0]
    >>> random_walk(ring, window=2).toarray()[0, :4].round(2).tolist()
    [0.0, 1.1, 0.41, 0.0]
    """
    return RandomWalk(window, n_kept, measure).fit(as_operator(similarity))


class RandomWalk:
    """The step from a graph to its random-walk similarity, for its nodes and for those that join later.

    `W_` is the graph that is walked on, and `degrees_` are the row sums of its weights.
    """

    def __init__(self, window: int = 3, n_kept: int = 60, measure: str = "pmi") -> None:
        self.window = window
        self.n_kept = n_kept
        self.measure = measure

    def fit(self, W: SimilarityLike) -> sparse.csr_array:
        """Return the random-walk similarity of the nodes of W, which is kept."""
        check_number("window", self.window, least=1, most=1000, whole=True)
        check_number("n_kept", self.n_kept, least=1, whole=True)
        check_known("measure", self.measure, MEASURES)
        self._take(W)
        return union(self._walk(self.W_.csr, first=0))

    def _take(self, W: SimilarityLike) -> None:
        self.W_ = _as_sparse(W)
        if (edge := self.W_.negative_entry()) is not None:
            raise InputError(
                f"Negative values in data: a random walk follows weights of at least 0, but that of {edge} "
                f"is {float(self.W_.entries(*edge)[0]):.3g}."
            )
        self.degrees_ = row_sums(self.W_.csr)

    def before(self, A: SimilarityLike) -> sparse.csr_array:
        """Return the graph that is walked on."""
        return self.W_.csr

    def grown(self, A: sparse.csr_array, W: SimilarityLike) -> tuple[RandomWalk, sparse.csr_array]:
        """Return the step and the similarity A with the nodes that have joined the graph, which is W now.

        Walks from the new nodes go wherever W leads, and keep entries as those of `fit` do. Walks from old
        nodes are not taken again: their similarities to each other stay as they are.
        """
        step, n = copy(self), self.W_.n
        step._take(W)
        return step, bordered(A, union_among_new(step._walk(step.W_.csr[n:], first=n), n))

    def extend(self, E: Any) -> sparse.csr_array:
        """Return the similarities of new nodes to the old, given by the weights of their edges to these.

        A new node's walk begins along its own edges and goes on along those of the graph. An edge to a node
        that had none leads nowhere.
        """
        start = sparse.csr_array(E, dtype=self.W_.dtype, copy=True)
        start.sum_duplicates()
        start.data[self.degrees_[start.indices] == 0] = 0
        start.eliminate_zeros()
        return self._walk(start)

    def _walk(self, start: sparse.csr_array, first: int = -1) -> sparse.csr_array:
        """Return the largest entries of each row.

        `start` holds the edges along which the walks begin; row 0 of it is node `first` of the graph, where
        it is one, and no node is similar to itself.
        """
        n, kept = self.W_.n, min(int(self.n_kept), self.W_.n)
        parts = [
            self._rows(start, rows, first + rows.start if first >= 0 else -1, kept)
            for rows in split(start.shape[0], ROWS)
        ]
        counts, columns, weights = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        kind = index_type(n, columns.size)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(kind)
        M = sparse.csr_array((weights, columns.astype(kind, copy=False), indptr), shape=(start.shape[0], n))
        return M if self.measure == "pmi" else self._root(M, row_sums(start))

    def _root(self, M: sparse.csr_array, degrees: Array) -> sparse.csr_array:
        """Replace log r_ij by √(r_ij √(d_i d_j) / vol): what `measure="root"` stands for."""
        roots = np.repeat(degrees**0.25, np.diff(M.indptr)) * self.degrees_[M.indices] ** 0.25
        M.data = (np.exp(M.data / 2) * roots / np.sqrt(self.degrees_.sum())).astype(M.dtype)
        return M

    def _rows(self, start: Any, rows: slice, first: int, kept: int) -> tuple[Array, Array, Array]:
        """Return the counts, columns and weights of some rows, one row after the other."""
        W, size, kind = self.W_, rows.stop - rows.start, self.W_.indices.dtype
        begin, end = start.indptr[rows.start], start.indptr[rows.stop]
        columns, weights = np.empty((size, kept), dtype=kind), np.empty((size, kept), dtype=W.dtype)
        counts = np.empty(size, dtype=np.int64)
        _kernels.random_walk_rows(
            W.indptr, W.indices, W.values, self.degrees_, float(self.degrees_.sum()),
            (start.indptr[rows.start : rows.stop + 1] - begin).astype(kind),
            start.indices[begin:end].astype(kind, copy=False), start.data[begin:end],
            first, int(self.window), FRONTIER * kept, columns, weights, counts,
        )  # fmt: skip
        found = np.arange(kept) < counts[:, None]
        return counts, columns[found], weights[found]


def _as_sparse(W: SimilarityLike) -> Sparse:
    """Return W as a sparse operator of its own arrays."""
    if isinstance(W, Operator):
        if not W.is_stored:
            raise CombinationError(
                f"Random walks follow edges one by one, and {W!r} holds none. Keep the similarities of "
                "neighbours only (n_neighbors=), which gives a sparse graph."
            )
        W = W.matrix
    return Sparse(sparse.csr_array(W, copy=True))
