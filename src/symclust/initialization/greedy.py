"""Columns grown one after the other from their best-connected samples."""

from __future__ import annotations

import numpy as np

from symclust.initialization._seeds import Array, Residual, seed_height
from symclust.objectives import Objective
from symclust.objectives._columns import Columns

RESCORED = 2  # picks after which the order of the others is kept, in multiples of k (Algorithm 6, line 9)


def greedy(objective: Objective, n_columns: int, rng: np.random.RandomState | None = None) -> Array:
    """Return H whose columns are built one after the other, offdiagonal Algorithm 6.

    A column begins with the sample that has the largest sum of similarities in the residual. The samples that
    are most similar to those already in it follow, one by one, each with the entry that minimises the
    objective given the entries so far. After 2k picks the order of the others is kept. Costs about k sweeps
    of coordinate descent. Deterministic: `rng` is not used.

    Parameters
    ----------
    objective : Objective
        What will be minimised: its entry problems decide the entries.
    n_columns : int
        k.
    rng : ignored
        Other starts are random.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.initialization import greedy
    >>> from symclust.objectives import Absolute
    >>> from symclust.operators import as_operator
    >>> A = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    >>> greedy(Absolute(as_operator(A)), 2)
    array([[1., 0.],
           [1., 1.],
           [0., 1.]])
    """
    operator = objective.operator
    H = np.zeros((operator.n, n_columns), dtype=operator.dtype)
    columns, degrees = objective.columns(H), operator.degrees()
    for j in range(n_columns):
        columns.open(j)
        _grow(columns, Residual(objective, H, j), degrees, RESCORED * n_columns)
        columns.close()
    return H


def _grow(columns: Columns, residual: Residual, degrees: Array, picks: int) -> None:
    """Visit all entries of the open column in the order of their samples' ties to it."""
    n = len(degrees)
    free = np.ones(n, dtype=bool)
    score = residual.times(np.ones(n, dtype=degrees.dtype), degrees)
    w, Aw = (np.zeros(n, dtype=degrees.dtype) for _ in range(2))
    for pick in range(min(picks - 1, n)):
        k = int(np.where(free, score, -np.inf).argmax())
        free[k] = False
        columns.visit(np.array([k]))
        if pick == 0:
            columns.place(k, seed_height(residual, k))
        _follow(residual, k, w, Aw)
        if pick + 2 < picks:
            score = residual.times(w, Aw)
    order = np.argsort(-score, kind="stable")
    columns.visit(order[free[order]])


def _follow(residual: Residual, k: int, w: Array, Aw: Array) -> None:
    """Add the similarities of sample k to w, and to the product of A with w."""
    row: Array = np.array(residual.A.rows([k])[0])
    row[k] = 0
    near: Array = np.flatnonzero(row)
    w += row
    Aw += residual.A.combine_rows(near, row[near])
