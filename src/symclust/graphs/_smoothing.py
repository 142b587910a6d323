"""Features of nodes averaged over their neighbours, as often as the graph itself suggests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.graphs._lengths import unit_rows
from symclust.graphs._neighbors import pair_products
from symclust.graphs.normalized_cut import inverse_powers, row_sums
from symclust.graphs.random_walk import random_walk
from symclust.operators import Sparse

MOST = 8  # steps: further ones average over most of a small world
SMALL = 0.05  # a share so little above 1/2 is as good as nothing: 410 edges show more than that
CLOSE = 0.01  # shares of pairs that differ by less count as equal: fewer steps blur less
ROUNDS = 10  # in each a tenth of the edges is hidden, each time others
LOOKED_AT = 10_000  # hidden edges that are compared in a round: enough for the second digit
OTHERS = 3  # pairs by chance for each of them
SURE = 3.0  # standard errors from which a difference is no accident


class Smoother:
    """One step replaces the features Z of nodes by SZ, S = (I + D^-½(W + I)D^-½) / 2, D the degrees of W + I.

    Half of a node stays what it was; the other half is shared by it and its neighbours. W is symmetric and at
    least 0; its loops are left out.
    """

    def __init__(self, W: sparse.csr_array) -> None:
        n = W.shape[0]
        self._roots = inverse_powers(row_sums(W) + 1, 0.5, W.dtype)
        scaled = sparse.diags_array(self._roots) @ W @ sparse.diags_array(self._roots)
        own = sparse.diags_array((1 + self._roots**2) / 2)
        self._step = Sparse(sparse.csr_array(scaled / 2 + own, dtype=W.dtype, shape=(n, n)))

    def path(self, Z: Array, steps: int) -> Iterator[Array]:
        """Yield Z after 0, 1, ... steps."""
        for step in range(steps + 1):
            Z = self._step @ Z if step else Z
            yield Z

    def extend(self, Z: Array, edges: sparse.csr_array, new: Array, steps: int) -> Array:
        """Return the features of new nodes after the steps, which leave the old ones, Z, alone.

        A new node with the edges and features of an old one ends where that does, up to rounding.
        """
        roots = inverse_powers(row_sums(edges) + 1, 0.5, Z.dtype)[:, np.newaxis]
        taken = sparse.csr_array(edges @ sparse.diags_array(self._roots))
        for old in self.path(Z, max(steps - 1, 0)):
            if steps:
                new = ((1 + roots**2) * new + roots * (taken @ old)) / 2
        return new.astype(Z.dtype, copy=False)


def center(Z: Array, mean: Array) -> Array:
    """Return rows less the mean, of unit length; a row of zeros, of which nothing is known, stays one."""
    centered = Z - mean
    centered[~Z.any(axis=1)] = 0
    return unit_rows(centered)


@dataclass(frozen=True)
class Evidence:
    """The evidence of hidden edges about features and graph.

    A share counts how often a hidden edge exceeds a pair by chance, in the cosine of the features of its ends
    or in walks from one to the other: 1/2 is no better than chance.

    `foretold` has the share for each number of smoothing steps, 0 to MOST; `by_chance` is the share after
    `steps` steps, with the features of the nodes exchanged among them. `error` is the standard error of a
    share if there is nothing to predict. `by_walks` is the share of walks on the graph without the hidden
    edges, measured if features predict nothing.
    """

    foretold: Array
    by_chance: float
    error: float
    by_walks: float | None = None

    @property
    def steps(self) -> int:
        """The least number of steps that predicts hidden edges as well as any."""
        return least_steps(self.foretold)

    @property
    def are_related(self) -> bool:
        """Whether the features predict edges, as they are or smoothed."""
        gains = float(self.foretold[0]) - 0.5, float(self.foretold[self.steps]) - self.by_chance
        return gains[0] > SURE * self.error or gains[1] > SURE * math.sqrt(2) * self.error

    @property
    def is_structured(self) -> bool:
        """Whether the edges predict each other."""
        return self.by_walks is not None and self.by_walks > 0.5 + SURE * self.error

    @property
    def is_telling(self) -> bool:
        """Whether there are edges enough that something to predict would have shown."""
        return SURE * self.error < SMALL


def least_steps(foretold: Array) -> int:
    """Return the least number of steps that comes close to the best."""
    return int(np.flatnonzero(foretold >= foretold.max() - CLOSE)[0])


def weigh_evidence(W: sparse.csr_array, Z: Array) -> Evidence:
    """Return the evidence of edges that are hidden while the features Z are smoothed.

    The cost is mostly that of ROUNDS · MOST products of the graph with Z.
    """
    rng = np.random.default_rng(0)
    rounds = [_Round(rest, ends, rng) for rest, ends in _hide(W, rng)]
    if not rounds:  # hardly any edges: nothing is known
        return Evidence(np.full(MOST + 1, 0.5), 0.5, error=0.5)
    with single_threaded_blas():
        foretold = np.mean([hidden.by_cosines(Z) for hidden in rounds], axis=0)
        steps, mixed = least_steps(foretold), Z[rng.permutation(len(Z))]
        by_chance = float(np.mean([hidden.by_cosines(mixed, steps)[-1] for hidden in rounds]))
    evidence = Evidence(foretold, by_chance, _error(sum(hidden.count for hidden in rounds)))
    if evidence.are_related:
        return evidence
    return replace(evidence, by_walks=float(np.mean([hidden.by_walks() for hidden in rounds])))


class _Round:
    """The graph without some edges, these edges, and pairs by chance: of the same nodes, as often."""

    def __init__(self, rest: sparse.csr_array, ends: tuple[Array, Array], rng: np.random.Generator) -> None:
        rows, columns = ends
        others = np.concatenate([rng.permutation(columns) for _ in range(OTHERS)])
        first = np.tile(rows, OTHERS)
        distinct = first != others
        self.count, self._rest = len(rows), rest
        self._pairs = np.r_[rows, first[distinct]], np.r_[columns, others[distinct]]

    def by_cosines(self, Z: Array, steps: int = MOST) -> Array:
        """Return the share after 0, 1, ... smoothing steps."""
        units = (center(smoothed, smoothed.mean(axis=0)) for smoothed in Smoother(self._rest).path(Z, steps))
        return np.array([self._share(pair_products(U, U, *self._pairs)) for U in units])

    def by_walks(self) -> float:
        """Return the share of short walks."""
        return self._share(np.asarray(random_walk(self._rest)[self._pairs]).ravel())

    def _share(self, values: Array) -> float:
        """Return how often a value of an edge is larger than one of the others; a tie counts half."""
        edges, others = self.count, len(values) - self.count
        ranks = rankdata(values)[:edges].sum() - edges * (edges + 1) / 2
        return float(ranks / (edges * others)) if others else 0.5


def _hide(W: sparse.csr_array, rng: np.random.Generator) -> Iterator[tuple[sparse.csr_array, Any]]:
    """Yield the graph without a tenth of its edges, and the ends of those; each time others."""
    upper = sparse.triu(W, 1).tocoo()
    order = rng.permutation(upper.nnz)
    size = upper.nnz // ROUNDS
    for start in range(0, ROUNDS * size, max(size, 1)):
        hidden = order[start : start + size]
        kept = np.ones(upper.nnz, dtype=bool)
        kept[hidden] = False
        half = sparse.coo_array((upper.data[kept], (upper.row[kept], upper.col[kept])), shape=W.shape)
        shown = hidden[:LOOKED_AT]
        yield sparse.csr_array(half + half.T), (upper.row[shown], upper.col[shown])


def _error(edges: int) -> float:
    """Return the standard error of such a share under chance (Mann and Whitney 1947)."""
    others = OTHERS * edges
    return math.sqrt((edges + others + 1) / (12 * edges * others))
