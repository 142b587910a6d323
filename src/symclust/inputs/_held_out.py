"""Two halves, of which one places a sample and the other says how well: what scores are made of."""

from __future__ import annotations

import numpy as np

from symclust._types import Array

TINY = float(np.finfo(np.float64).tiny)


def halves(n: int) -> tuple[Array, Array]:
    """Return the numbers from 0 to n − 1 in two halves, each in rising order.

    Which number goes where is as good as random, since an order of samples or features may mean something,
    and the same for every model and whatever the data: scores of two models are scores on the same entries.

    Examples
    --------
    >>> from symclust.inputs._held_out import halves
    >>> [half.tolist() for half in halves(5)]
    [[0, 2], [1, 3, 4]]
    """
    order = np.random.RandomState(0).permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])
