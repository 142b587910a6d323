"""A score that also counts how much a split explains."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.hierarchy.samples import Samples
from symclust.hierarchy.scores._ndcg import mndcg_score
from symclust.hierarchy.splits import Halves

__all__ = ["energy"]


POWER_STEPS = 3


def energy(weights: Array, samples: Samples, halves: Halves) -> float:
    """Return the mNDCG (63) times the root of what two topics explain beyond one.

    (63) looks at rankings of terms and not at how many samples they are about, so that it may divide a large
    and already pure leaf while smaller topics stay together. The gain ‖X − uvᵀ‖² − ‖X − WCᵀ‖², with the best
    single topic v, is large where many samples are served better by two. Costs four products with X or Xᵀ and
    grows with X: it is no number between 0 and 1.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Of the leaf's own terms.
    samples : Samples
        Of the leaf.
    halves : Halves
        Its trial split.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.hierarchy.samples import Samples
    >>> from symclust.hierarchy.scores import energy, mndcg
    >>> from symclust.hierarchy.splits import RankTwo
    >>> X = np.kron(np.eye(2), np.ones((1, 3)))[[0, 0, 0, 0, 0, 0, 1]]  # of 21, one topic explains 18
    >>> samples, weights = Samples.of(X), np.ones(6)
    >>> halves = RankTwo()(samples, np.random.RandomState(0))
    >>> round(energy(weights, samples, halves) / mndcg(weights, samples, halves), 3)  # the root of 3
    1.732
    """
    score = mndcg_score(weights, *halves.terms.T)
    gain = explained_by_two(samples, halves) - explained_by_one(samples)
    return score * float(np.sqrt(max(gain, 0.0))) if score > 0 else score


def explained_by_two(samples: Samples, halves: Halves) -> float:
    """Return ‖X‖² − ‖X − WCᵀ‖² = 2⟨W, XC⟩ − ⟨WᵀW, CᵀC⟩."""
    C, W = halves.terms, halves.memberships.astype(np.float64)
    products = samples.times(np.ascontiguousarray(C, dtype=samples.dtype)).astype(np.float64)
    C = C.astype(np.float64)
    return 2 * float(np.sum(W * products)) - float(np.sum((W.T @ W) * (C.T @ C)))


def explained_by_one(samples: Samples) -> float:
    """Return the squared norm of X along its leading singular vector, found by a few power steps.

    From the sum of the samples: X is nonnegative, so that vector is nonnegative too and near the sum.
    """
    u = np.ones((samples.shape[0], 1), dtype=samples.dtype)
    for _ in range(POWER_STEPS):
        v = samples.transposed_times(u)
        u = samples.times(v / (np.linalg.norm(v) or 1))
    return float(np.sum(u.astype(np.float64) ** 2))
