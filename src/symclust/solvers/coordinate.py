"""Cyclic coordinate descent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symclust import _kernels
from symclust.solvers._base import Array, Problem, Solver, State


class Coordinate(Solver):
    """Minimise over one entry of H at a time, exactly, column after column.

    The textbook method, kept to compare with: it reads A once for every column of H where `row_descent` reads
    it once for all, and runs on one thread, since the order of the entries is the method.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"row_problem"})

    def advance(self, problem: Problem, states: Sequence[State]) -> None:
        """Go once over all entries of every start."""
        A, objective = problem.operator, problem.objective
        diagonal = A.diagonal()
        for state in states:
            G = _kernels.gram(state.H)[0]
            G += objective.row_offset
            change = np.zeros(2)
            for column in range(state.H.shape[1]):
                _descend_column(A, diagonal, state.H, G, column, objective.full_diagonal, change)
            state.AH = None
            state.objective = max(state.objective - change[0], 0.0)
            state.stationarity = float(np.sqrt(change[1]))


def _descend_column(
    A: Any, diagonal: Array, H: Array, G: Array, column: int, full: bool, change: Array
) -> None:
    x = np.ascontiguousarray(H[:, column])
    if A.is_sparse:
        _kernels.coordinate_sparse(A.indptr, A.indices, A.values, diagonal, H, x, G, column, full, change)
        return
    for rows, block in A.row_blocks():
        _kernels.coordinate_rows(
            np.ascontiguousarray(block), rows.start, diagonal, H, x, G, column, full, change
        )
