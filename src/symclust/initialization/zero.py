"""From nothing: the first sweep of coordinate descent over H = 0."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.initialization._seeds import Residual
from symclust.objectives import GivesColumns

__all__ = ["zero"]


def zero(objective: GivesColumns, n_columns: int, rng: np.random.RandomState | None = None) -> Array:
    """Return H after coordinate descent has gone once over all entries of H = 0.

    Without the diagonal of A nothing can leave zero: every entry of a column multiplies the others, which are
    zero too. A column that stays empty therefore gets one entry, at the sample with the largest sum of
    similarities in the residual, which changes the objective not at all, and then its sweep. The first
    columns grow dense, the later ones explain what is left. Deterministic: `rng` is not used.

    Parameters
    ----------
    objective : Objective
        What will be minimised.
    n_columns : int
        k.
    rng : ignored
        Other starts are random.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.initialization import zero
    >>> from symclust.objectives import OffDiagonal
    >>> from symclust.operators import as_operator
    >>> zero(OffDiagonal(as_operator(np.kron(np.eye(2), np.ones((2, 2))))), 2)
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    operator = objective.operator
    H = np.zeros((operator.n, n_columns), dtype=operator.dtype)
    columns, degrees = objective.columns(H), operator.degrees()
    for j in range(n_columns):
        if columns.full_diagonal:
            columns.descend(j)
        if not H[:, j].any():
            residual = Residual(operator, H, j, degrees)
            seed = residual.seed
            columns.open(j)
            columns.place(seed, residual.height)
            # The others first: as long as they are zero, the entry by itself would become zero again.
            columns.visit(np.append(np.delete(columns.all_ids, seed), seed))
            columns.close()
    return H
