"""Cyclic coordinate descent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from symclust.objectives import GivesColumns
from symclust.solvers._base import Problem, Solver, State

__all__ = ["Coordinate"]


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
