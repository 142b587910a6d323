"""Gauss-Seidel over the rows of H."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from symclust import _kernels
from symclust._threads import split
from symclust.solvers._base import Array, Problem, Solver, State


class RowDescent(Solver):
    """One sweep over all rows; a row's coordinates are minimised exactly, one after the other.

    A sweep over a sparse A costs the memory traffic of one product and is compiled as a whole. Any other A is taken in blocks of
    rows: the operator multiplies a block with H (BLAS for dense A), and the compiled update corrects for the rows of the
    same block that have changed meanwhile. The objective falls with every step, and is tracked exactly.

    Parameters
    ----------
    cycles : int, default=1
        Passes over the coordinates of a row before going on to the next.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"row_problem"})

    def __init__(self, cycles: int = 1) -> None:
        self.cycles = cycles

    def advance(self, problem: Problem, states: Sequence[State]) -> None:
        """Sweep all starts side by side."""
        H = states[0].H if len(states) == 1 else np.concatenate([state.H for state in states], axis=1)
        G = _kernels.gram(H, len(states))
        decrease, squared_gradient = np.zeros(len(states)), np.zeros(len(states))
        sweep = _sweep_sparse if problem.operator.is_sparse else _sweep_blocks
        sweep(problem, H, G, self.cycles, decrease, squared_gradient)
        k = H.shape[1] // len(states)
        for s, state in enumerate(states):
            state.H = H if len(states) == 1 else np.ascontiguousarray(H[:, s * k : (s + 1) * k])
            state.AH = None
            state.objective = max(state.objective - decrease[s], 0.0)
            state.stationarity = float(np.sqrt(squared_gradient[s]))


def _sweep_sparse(problem: Problem, H: Array, G: Array, cycles: int, decrease: Array, squared_gradient: Array) -> None:
    A, objective = problem.operator, problem.objective
    _kernels.row_sweep_sparse(
        A.indptr, A.indices, A.values, A.diagonal(), H, G, objective.row_offset, objective.full_diagonal, cycles,
        decrease, squared_gradient,
    )  # fmt: skip


def _sweep_blocks(problem: Problem, H: Array, G: Array, cycles: int, decrease: Array, squared_gradient: Array) -> None:
    A, objective = problem.operator, problem.objective
    cursor = A.row_products(H)
    # Corrections inside a block cost size / 2n of the product: small against it, large enough for BLAS.
    size = max(16, min(256, A.n // 16))
    for rows in split(A.n, size):
        before = H[rows].copy()
        block, product = np.ascontiguousarray(A.block(rows)), np.ascontiguousarray(cursor.product(rows))
        _kernels.row_sweep_block(
            block, product, H[rows], G, objective.row_offset, objective.full_diagonal, cycles,
            decrease, squared_gradient,
        )  # fmt: skip
        cursor.update(rows, H[rows] - before)
