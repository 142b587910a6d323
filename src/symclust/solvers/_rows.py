"""The row of an unseen sample, in any set."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.constraints import Constraint
from symclust.nnls import block_pivoting

ROUNDS = 500  # of projected gradient for the k numbers of an unseen sample
STILL = 1e-6
NEGLIGIBLE = 1e-12  # of a column outside the span of others, relative to its square


class RowSolver:
    """min ‖a − Hh‖² for the row h of an unseen sample, from its normal equations.

    If the set is one of rows, h lies in it; sets that tie rows together leave h free. The minimum is global
    for convex sets and for rows of at most one entry; for other sets it is one that no short step improves
    on.
    """

    def __init__(self, constraint: Constraint) -> None:
        self.constraint = constraint

    def __call__(self, G: Array, R: Array) -> Array:
        """A row for each row of R."""
        if "nonnegative" in self.constraint.offers:
            return block_pivoting(G, R)
        h = self._first(G.astype(np.float64), R.astype(np.float64)).astype(R.dtype)
        return self._descend(G, R, h) if self.constraint.by_rows else h

    def _first(self, G: Array, R: Array) -> Array:
        """Rows to begin with: without the set, or with as many entries as it allows."""
        most = self.constraint.most_per_row
        if most is None or most >= len(G):
            return R @ np.linalg.pinv(G, hermitian=True)
        return add_columns(G, R, most, self.constraint.nonnegative)

    def _descend(self, G: Array, R: Array, h: Array) -> Array:
        h, step = self.constraint.project(h), R.dtype.type(1 / (np.linalg.norm(G, 2) or 1.0))
        for _ in range(ROUNDS):
            before, h = h, self.constraint.project(h - step * (h @ G - R))
            if np.linalg.norm(h - before) <= STILL * np.linalg.norm(h):
                break
        return h


def add_columns(G: Array, R: Array, most: int, nonnegative: bool) -> Array:
    """Rows h with at most `most` entries per row, added one by one, the best first.

    Keeping the largest entries of the solution without limit would be wrong: columns have different lengths,
    and several may explain the same part. Samples with the same columns go together.
    """
    h = np.zeros_like(R)
    groups: dict[tuple[int, ...], Array] = {(): np.arange(len(R))}
    for _ in range(most):
        following: dict[tuple[int, ...], list[Array]] = {}
        for columns, rows in groups.items():
            rest = R[rows] - h[rows] @ G
            room = np.diag(G) - _explained(G, columns)
            usable = (room > NEGLIGIBLE * np.diag(G)) & ((rest > 0) | (not nonnegative))
            gains = np.divide(rest**2, room, out=np.zeros_like(rest), where=usable)
            best = np.where(gains.any(axis=1), gains.argmax(axis=1), -1)
            for l in np.unique(best):
                wider = columns if l < 0 else tuple(sorted((*columns, int(l))))
                following.setdefault(wider, []).append(rows[best == l])
        groups = {columns: np.concatenate(parts) for columns, parts in following.items()}
        for columns, rows in groups.items():
            own, inverse = _inverse(G, columns)
            h[np.ix_(rows, own)] = R[np.ix_(rows, own)] @ inverse
    return h


def _explained(G: Array, columns: tuple[int, ...]) -> Array:
    """Part of the square of each column in the span of the given ones."""
    own, inverse = _inverse(G, columns)
    return np.einsum("lc,cd,ld->l", G[:, own], inverse, G[:, own])


def _inverse(G: Array, columns: tuple[int, ...]) -> tuple[Array, Array]:
    own = np.array(columns, dtype=np.intp)
    return own, np.linalg.pinv(G[np.ix_(own, own)], hermitian=True)
