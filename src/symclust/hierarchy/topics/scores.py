"""Which leaf of a topic tree is split next: the one whose trial split scores highest.

==========  =================================================================================
`mndcg`     how well the parts divide the leaf's ranking of terms, thesis (58)-(63)
`energy`    the same, weighted by how much more of the samples two topics explain than one
==========  =================================================================================
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symclust._kernels import falling_order
from symclust._types import Array
from symclust.hierarchy.topics.block_samples import AnySamples
from symclust.hierarchy.topics.splits import Halves

__all__ = ["energy", "mndcg"]

Score = Callable[[Array, Array, Array, AnySamples, Halves], float]

CANNOT_BE_SPLIT = -1.0  # line 21 of Algorithm 6
POWER_STEPS = 3


def mndcg(parent: Array, left: Array, right: Array, samples: AnySamples, halves: Halves) -> float:
    """Score (63) of a leaf by the weights of all terms in it and in its two possible children."""
    return mndcg_score(parent, left, right)


def energy(parent: Array, left: Array, right: Array, samples: AnySamples, halves: Halves) -> float:
    """Return the mNDCG (63) times the root of what two topics explain beyond one.

    (63) looks at rankings of terms and not at how many samples they are about, so that it may divide a large
    and already pure leaf while smaller topics stay together. The gain ‖X − uvᵀ‖² − ‖X − WCᵀ‖², with the best
    single topic v, is large where many samples are served better by two. Costs four products with X or Xᵀ and
    grows with X: it is no number between 0 and 1.
    """
    score = mndcg_score(parent, left, right)
    gain = explained_by_two(samples, halves) - explained_by_one(samples)
    return score * float(np.sqrt(max(gain, 0.0))) if score > 0 else score


def explained_by_two(samples: AnySamples, halves: Halves) -> float:
    """Return ‖X‖² − ‖X − WCᵀ‖² for rows w of W of the best length: Σ_i ⟨w_i, Cᵀx_i⟩² / ‖C w_i‖².

    Those of NMF have that length; zeros and ones, of clusters, have not.
    """
    C, W = halves.terms, halves.memberships.astype(np.float64)
    products = samples.times(np.ascontiguousarray(C, dtype=samples.dtype)).astype(np.float64)
    C = C.astype(np.float64)
    squares = np.einsum("ij,ij->i", W @ (C.T @ C), W)
    fits = np.einsum("ij,ij->i", W, products) ** 2
    return float(np.divide(fits, squares, out=np.zeros_like(fits), where=squares > 0).sum())


def explained_by_one(samples: AnySamples) -> float:
    """Return the squared norm of X along its leading singular vector, found by a few power steps.

    From the sum of the samples: X is nonnegative, so that vector is nonnegative too and near the sum.
    """
    v = samples.total()
    for _ in range(POWER_STEPS - 1):
        v = samples.gram_times(_unit(v))
    return samples.squared_length(_unit(v))


def _unit(v: Array) -> Array:
    return (v / (np.linalg.norm(v.astype(np.float64)) or 1)).astype(v.dtype)


def mndcg_score(parent: Array, left: Array, right: Array) -> float:
    """Score (63) of a node, from the weights of the same terms in it and in its two possible children.

    A term high in both children's rankings does not tell them apart and is discounted; the score is high
    if the parent's top terms are divided between the children. Terms are ranked by weight, equal ones by
    their numbers. Only the terms of the parent are ranked, also those that no sample of the node has: m is
    their number, and positions i, i₁, i₂ count among them. Costs O(m log m).

    The score is between 0 and 1, or −1 if the parent has at most one term. The discount of a term that is
    last in a ranking is log 2 instead of 0 (thesis, (58)).
    """
    ranked = np.flatnonzero(parent > 0)
    m = len(ranked)
    if m <= 1:
        return CANNOT_BE_SPLIT
    i = ranks(parent[ranked])
    i1, i2 = ranks(left[ranked]), ranks(right[ranked])
    logs = np.log(np.arange(1, m + 1, dtype=np.float64))
    logs_at = logs[m - i]  # log(m − i + 1)
    discount = logs[m - np.maximum(i1, i2)]  # (58)
    gain = logs_at / np.where(discount > 0, discount, np.log(2))  # (59)
    weights = 1 / np.log2(np.maximum(np.arange(1, m + 1), 2))  # 1, 1, 1/log₂3, ...
    ideal = float(np.sort(gain)[::-1] @ weights)  # (61)
    return float((gain @ weights[i1 - 1]) * (gain @ weights[i2 - 1])) / ideal**2  # (60), (62), (63)


def ranks(weights: Array) -> Array:
    """Position of each entry, from 1, when sorted from high to low; equal ones keep their order.

    Entries are at least 0, and compared in single precision: those that differ by rounding alone are equal.
    """
    place = np.empty(len(weights), dtype=np.intp)
    place[falling_order(weights)] = np.arange(1, len(weights) + 1)
    return place
