"""Rules of several methods: the probability of chance, the smallest number that is good enough."""

from __future__ import annotations

import numpy as np
from scipy import stats

from symclust._types import Array


def chance_of(value: float, nulls: Array) -> float:
    """Return the probability that one more value like `nulls`, if they are normal, is at least `value`."""
    spread = max(float(nulls.std(ddof=1)), np.finfo(float).tiny) * np.sqrt(1 + 1 / len(nulls))
    return float(stats.t.sf((value - nulls.mean()) / spread, len(nulls) - 1))


def smallest_good(scores: Array) -> int:
    """Return the first column that is as good as the best one, up to a standard error of their difference.

    Rows are measured on the same samples, so that their differences are compared: their spread is far smaller
    than that of the scores.
    """
    behind = scores[:, [scores.mean(axis=0).argmax()]] - scores
    return int(np.flatnonzero(behind.mean(axis=0) <= standard_error(behind))[0])


def standard_error(values: Array) -> Array:
    """Return the standard error of the mean over rows, for each column."""
    return values.std(axis=0, ddof=1) / np.sqrt(len(values))
