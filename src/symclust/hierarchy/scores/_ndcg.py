"""How well two topics divide the terms of the one they come from: the modified NDCG."""

from __future__ import annotations

import numpy as np

from symclust._kernels import falling_order
from symclust._types import Array

__all__ = ["CANNOT_BE_SPLIT", "mndcg_score", "ranks"]


CANNOT_BE_SPLIT = -1.0  # line 21 of Algorithm 6


def mndcg_score(parent: Array, left: Array, right: Array) -> float:
    """Return the score (63) of a node from its own term weights and those of its two possible children.

    A term high in both children's rankings does not tell them apart and is discounted; the score is high
    where the parent's top terms are divided between the children. Terms are ranked by weight, equal ones by
    their numbers. Only the terms of the parent are ranked: m is their number, and positions i, i₁, i₂ count
    among them. Costs O(m log m).

    Parameters
    ----------
    parent, left, right : ndarray of shape (n_terms,)
        Weights of the same terms, at least 0.

    Returns
    -------
    score : float
        Between 0 and 1; −1 where the parent has at most one term, so that nothing can be ranked.

    References
    ----------
    D. Kuang, Nonnegative matrix factorization for clustering (2014), (58)-(63). The discount of a term that
    is last in a ranking is log 2 instead of 0.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.hierarchy.scores._ndcg import mndcg_score
    >>> parent = np.arange(8.0, 0.0, -1.0)
    >>> divided = np.tile([1.0, 0.0], 4)
    >>> round(mndcg_score(parent, parent * divided, parent * (1 - divided)), 2)
    0.86
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
    """Return the position of each entry, from 1, when sorted from high to low; equal ones keep their order.

    Entries are at least 0, and compared in single precision: what differs by rounding alone is equal.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.hierarchy.scores._ndcg import ranks
    >>> ranks(np.array([0.0, 5.0, 0.0, 7.0])).tolist()
    [3, 2, 4, 1]
    """
    place = np.empty(len(weights), dtype=np.intp)
    place[falling_order(weights)] = np.arange(1, len(weights) + 1)
    return place
