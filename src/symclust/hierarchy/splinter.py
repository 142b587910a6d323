"""The splinter group of DIANA."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.operators import Operator

ROUNDING = 4  # errors, in units of the last digit, within which values are tied: the same on any scale


def splinter(operator: Operator) -> Array | None:
    """Return which samples leave a cluster, as DIANA splits it; None for a single sample.

    The sample of least average similarity to the others leaves first. Then, one by one, the sample whose
    average similarity to those that left exceeds that to those that stay the most (Arora, Gupta, Kapila and
    Fazel 2013, (16)), until there is none. A step reads one row of K.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.hierarchy.splinter import splinter
    >>> from symclust.operators import as_operator
    >>> splinter(as_operator(np.kron(np.diag([2.0, 1.0]), np.ones((2, 2))))).tolist()
    [False, False, True, True]
    """
    n = operator.n
    if n < 2:
        return None
    left = np.zeros(n, dtype=bool)
    sums = operator.degrees()
    unit = ROUNDING * float(np.finfo(sums.dtype).eps)
    rounding = unit * float(np.abs(sums).max())
    to_old = (sums - operator.diagonal()).astype(np.float64)  # similarity to the others that stay
    to_new = np.zeros(n)
    mover = _first_largest(-to_old, rounding)
    for gone in range(1, n):
        left[mover] = True
        row = operator.rows(np.array([mover]))[0].astype(np.float64)
        to_new += row
        to_old -= row
        stay = n - gone - 1  # besides the one that is looked at
        if stay == 0:
            break
        gain = to_new / gone - to_old / stay  # (16)
        gain[left] = -np.inf
        slack = rounding / stay + unit * float(np.abs(row).max())
        mover = _first_largest(gain, slack)
        if gain[mover] <= slack:
            break
    return left


def _first_largest(values: Array, slack: float) -> int:
    """Return the first of the largest values, those equal but for rounding among them."""
    return int(np.argmax(values >= values.max() - slack))
