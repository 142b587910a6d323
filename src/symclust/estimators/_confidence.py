"""How sure the cluster of each sample is, and which cluster comes second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from symclust._labels import labels_of
from symclust._threads import split
from symclust._types import Array
from symclust.graphs import RandomWalk

FEW = 64  # clusters up to which the ends of walks are held as an ordinary array
ENTRIES = 1 << 22  # of samples × clusters that are compared at once
TINY = float(np.finfo(np.float64).tiny)
# Of samples whose walks never leave the cluster about this share is in the right one: the mean over the
# labelled sets of docs/evidence/number.md.
SUREST = 0.97
NONE = -1


class Walk(NamedTuple):
    """Length of the walks, the power of their shares, and links at random.

    With more independent links the power is larger. Links at random are added to those of each sample, since
    all links of a node with one or two may well lie in the wrong cluster.
    """

    steps: int
    power: float
    links: float = 0.0


# Neighbours of a sample are neighbours of each other: one link says much the same as the next. Similarities
# by random walks have some steps in them. Links of a network say something each, and walks soon forget
# where they began. The numbers are those of docs/evidence/number.md.
NEIGHBOURS, WALKED, NETWORK = Walk(4, 1.25), Walk(2, 1.5), Walk(1, 3.0, 2.0)


@dataclass(frozen=True, eq=False)
class Standing:
    """How firmly samples stand in their clusters.

    `confidence` is the share of a sample's own cluster, NaN in no cluster; `second` the next cluster, −1 if
    there is none, and `second_share` its share. `strength` is how much ties a sample to its cluster, on the
    scale of the model: the core has much.
    """

    confidence: Array
    second: Array
    second_share: Array
    strength: Array


def walk_for(rule: Any) -> Walk:
    """The walk that suits similarities made by a rule of `symclust.inputs.similarity`."""
    if rule is not None and rule.is_network:
        return NETWORK
    return WALKED if isinstance(getattr(rule, "step", None), RandomWalk) else NEIGHBOURS


def by_walks(A: Any, labels: Array, n_clusters: int, walk: Walk) -> Standing:
    r"""Follow random walks on a sparse similarity from each sample, and see in which clusters they end.

    With :math:`P = D^{-1} A`, diagonal left out, and Z the clusters as columns of zeros and ones,

    .. math:: s_{ic} = \left(\frac{d_i (P^t Z)_{ic} + a \, vol(c) / vol}{\sqrt{vol(c)}}\right)^p, \qquad
              confidence_i = 0.97 \; \frac{s_{i c_i}}{\sum_c s_{ic}}

    d are degrees in links, and a of a sample's links lie anywhere: 2 in a network, otherwise 0.
    The root of the volume is half of what a large cluster gets by its size alone. It takes t products with
    A, and in large graphs memory for the clusters that are near each sample.
    """
    A = sparse.csr_array(A, dtype=np.float64, copy=True)
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    A.data = np.where(rows == A.indices, 0.0, np.maximum(A.data, 0.0))
    degrees, squares = A.sum(axis=1), float(A.data @ A.data)
    A.data /= np.repeat(np.where(degrees > 0, degrees, 1), np.diff(A.indptr))
    placed = np.flatnonzero(labels >= 0)
    volumes = np.bincount(labels[placed], degrees[placed], minlength=n_clusters)
    Z = sparse.csr_array((np.ones(len(placed)), (placed, labels[placed])), (len(labels), n_clusters))
    ends = Z if n_clusters > FEW else Z.toarray()
    for _ in range(walk.steps):
        ends = A @ ends
    unit = squares / max(degrees.sum(), TINY)  # the weight of a link
    ends = sparse.diags_array(degrees / max(unit, TINY)) @ ends
    chance, roots = walk.links * volumes / max(volumes.sum(), TINY), np.sqrt(np.maximum(volumes, TINY))
    known = np.asarray(ends.sum(axis=1)).ravel() > 0

    def score(part: Array) -> Array:
        return ((part + chance) / roots) ** walk.power

    found = _compared(ends, np.where(known, labels, NONE), score)
    inside = np.asarray((A @ Z)[placed, labels[placed]]).ravel()
    found.strength[placed] = inside * degrees[placed]
    return replace(found, confidence=SUREST * found.confidence, second_share=SUREST * found.second_share)


def by_shares(H: Any, labels: Array) -> Standing:
    """Compare the largest membership of each sample with the second; negative ones count as none."""
    H = sparse.csr_array(H).maximum(0) if sparse.issparse(H) else np.asarray(H)
    own = np.where(labels >= 0, labels_of(H), NONE)  # labels may come from elsewhere
    return _compared(H, own, lambda part: np.maximum(part, 0.0))


def _compared(ends: Any, labels: Array, score: Callable[[Array], Array]) -> Standing:
    """Compare the score of each sample in its cluster with the others; `score` makes them of some rows."""
    n, k = ends.shape
    own, total, most, second = np.zeros(n), np.zeros(n), np.zeros(n), np.full(n, NONE)
    for part in split(n, max(1, ENTRIES // max(k, 1))):
        rows = ends[part].toarray() if sparse.issparse(ends) else ends[part]
        scores = score(rows).astype(np.float64, copy=True)
        total[part] = scores.sum(axis=1)
        placed = np.flatnonzero(labels[part] >= 0)
        place = placed, labels[part][placed]
        own[part][placed] = scores[place]
        scores[place] = 0
        scores[rows <= 0] = 0  # chance alone makes no cluster second
        most[part] = scores.max(axis=1, initial=0)
        second[part] = np.where(most[part] > 0, scores.argmax(axis=1), NONE)
    known = (labels >= 0) & (total > 0)
    share, rest = (np.divide(x, total, out=np.full(n, np.nan), where=known) for x in (own, most))
    return Standing(share, np.where(known, second, NONE), np.nan_to_num(rest), np.where(known, own, 0.0))
