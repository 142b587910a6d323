"""Each entry of H in turn at its best value: row after row, or column after column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symclust import _kernels
from symclust._threads import split
from symclust._types import Array
from symclust.objectives import GivesColumns, GivesRowProblem
from symclust.solvers._base import Problem, Solver, State

__all__ = ["Coordinate", "RowDescent"]

NEGLIGIBLE = 5e-2  # share of the squared gradient that rows left out of the partial sweeps may hold together
MOST_PARTIAL = 20
# Without the diagonal a row is a convex problem, and going over it again until it is solved costs nothing but
# arithmetic. With it, the first time over a row does nearly all.
MOST_CYCLES = {False: 10, True: 1}
FRESH_GRAM = 16  # iterations after which HᵀH is computed anew: until then it is kept up to date, to rounding


class RowDescent(Solver):
    """One sweep over all rows; a row's coordinates are minimised exactly, one after the other.

    For an objective without the diagonal they are gone over until the row's nonnegative least squares problem
    is solved.

    A sweep over a sparse A costs the memory traffic of one product and is compiled as a whole. Soon most rows
    are done and few still move; an iteration therefore adds sweeps over those few, as many as cost about
    another full sweep. Any other A is taken in blocks of rows: the operator multiplies a block with H (BLAS
    for dense A), and the compiled update corrects for the rows of the same block that have changed meanwhile.
    The objective never rises, and is tracked exactly.
    """

    needs: ClassVar[tuple[type, ...]] = (GivesRowProblem,)

    def advance(self, problem: Problem, states: Sequence[State]) -> None:
        """Sweep all starts side by side."""
        H = states[0].H if len(states) == 1 else np.concatenate([state.H for state in states], axis=1)
        sweep = _Sweep(problem, H, _gram_matrices(states, H))
        squared_gradient = sweep.sparse() if problem.operator.is_sparse else sweep.blocks()
        for s, state in enumerate(states):
            own = H if len(states) == 1 else np.ascontiguousarray(np.split(H, len(states), axis=1)[s])
            state.sweep(own, float(sweep.decrease[s]), float(np.sqrt(squared_gradient[s])))
            state.memory["gram"] = sweep.G[s]
            state.memory["age"] = state.memory.get("age", 0) + 1


def _gram_matrices(states: Sequence[State], H: Array) -> Array:
    if any(state.memory.get("age", 0) % FRESH_GRAM == 0 for state in states):
        return _kernels.gram(H, len(states))
    return np.stack([state.memory["gram"] for state in states])


class _Sweep:
    """One iteration over H, which holds a start for each matrix of G side by side and is changed in place."""

    def __init__(self, problem: Problem, H: Array, G: Array) -> None:
        self.A: Any = problem.operator
        self.row = problem.objective.row_problem
        self.H = H
        self.G = G
        self.decrease = np.zeros(len(G))
        self.cycles = MOST_CYCLES[self.row.full_diagonal]

    def sparse(self) -> Array:
        """Sweep over all rows, then over those that still move; return the squared gradient met first."""
        n, diagonal = self.A.n, self.A.diagonal()
        active, row_gradient = np.ones(n, dtype=np.uint8), np.zeros(n)
        met = self._sweep_rows(diagonal, active, row_gradient)
        active = (row_gradient > NEGLIGIBLE * row_gradient.sum() / n).astype(np.uint8)
        sweeps = n // max(int(active.sum()), 1) - 1
        for _ in range(min(sweeps, MOST_PARTIAL)):
            self._sweep_rows(diagonal, active, row_gradient)
        return met

    def _sweep_rows(self, diagonal: Array, active: Array, row_gradient: Array) -> Array:
        A, row, squared_gradient = self.A, self.row, np.zeros_like(self.decrease)
        _kernels.row_sweep_sparse(
            A.indptr, A.indices, A.values, diagonal, self.H, self.G, row.offset,
            row.full_diagonal, self.cycles, *row.ignored.arrays, active, row_gradient,
            self.decrease, squared_gradient,
        )  # fmt: skip
        return squared_gradient

    def blocks(self) -> Array:
        """Sweep over blocks of rows whose products the operator computes; return the squared gradient met."""
        A, H, row, squared_gradient = self.A, self.H, self.row, np.zeros_like(self.decrease)
        cursor = A.row_products(H)
        # Corrections inside a block cost size / 2n of the product: small against it, large enough for BLAS.
        for rows in split(A.n, max(16, min(256, A.n // 16))):
            before = H[rows].copy()
            block, product = np.ascontiguousarray(A.block(rows)), np.ascontiguousarray(cursor.product(rows))
            _kernels.row_sweep_block(
                block, rows.start, product, H, self.G, row.offset, row.full_diagonal,
                self.cycles, *row.ignored.arrays, self.decrease, squared_gradient,
            )  # fmt: skip
            cursor.update(rows, H[rows] - before)
        return squared_gradient


class Coordinate(Solver):
    """Minimise over one entry of H at a time, exactly, column after column.

    The textbook method: it reads A once for every column of H where `row_descent` reads it once for all, and
    runs on one thread, since the order of the entries is the method. For the absolute loss it is the only
    one.
    """

    needs: ClassVar[tuple[type, ...]] = (GivesColumns,)

    def advance(self, problem: Problem, states: Sequence[State]) -> None:
        """Go once over all entries of every start."""
        for state in states:
            columns = problem.objective.columns(state.H)
            for column in range(state.H.shape[1]):
                columns.descend(column)
            state.sweep(state.H, columns.decrease, columns.stationarity)
