"""The score of the thesis."""

from __future__ import annotations

import numpy as np

from symclust.hierarchy.samples import Samples
from symclust.hierarchy.scores._ndcg import mndcg_score
from symclust.hierarchy.splits import Halves

__all__ = ["mndcg"]


def mndcg(weights: np.ndarray, samples: Samples, halves: Halves) -> float:
    """Return (63), between 0 and 1; −1 where nothing can be ranked. It does not look at the samples.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Of the leaf's own terms.
    samples : Samples
        Of the leaf.
    halves : Halves
        Its trial split.
    """
    return mndcg_score(weights, *halves.terms.T)
