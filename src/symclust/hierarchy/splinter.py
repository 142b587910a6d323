"""The splinter group of DIANA."""

from __future__ import annotations

import numpy as np

from symclust.operators import Operator

Array = np.ndarray


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
    to_old = (operator.degrees() - operator.diagonal()).astype(
        np.float64
    )  # similarity to the others that stay
    to_new = np.zeros(n)
    mover = int(to_old.argmin())
    while True:
        left[mover] = True
        row = operator.rows(np.array([mover]))[0].astype(np.float64)
        to_new += row
        to_old -= row
        gone = int(left.sum())
        if gone == n - 1:
            return left
        gain = to_new / gone - to_old / (n - gone - 1)  # (16)
        gain[left] = -np.inf
        mover = int(gain.argmax())
        if gain[mover] <= 0:
            return left
