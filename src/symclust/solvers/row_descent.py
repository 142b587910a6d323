"""Each entry of H in turn at its best value: row after row, or column after column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from symclust import _kernels
from symclust._threads import split
from symclust._types import Array
from symclust.exceptions import CombinationError
from symclust.objectives import HasColumns, HasRowProblem, factor_arrays, gram, is_sparse_factor
from symclust.operators import Operator, on_lines
from symclust.solvers._base import Problem, Solver, State

__all__ = ["Coordinate", "RowDescent"]

NEGLIGIBLE = 5e-2  # share of the squared gradient that rows left out of the partial sweeps may hold together
MOST_PARTIAL = 20
# Without the diagonal a row is a convex problem, and going over it again until it is solved costs nothing but
# arithmetic. With it, the first time over a row does nearly all.
MOST_CYCLES = {False: 10, True: 1}
UNOPENED = 0.25  # share of the squared gradient in entries that are zero and stay so
FRESH_GRAM = 16  # iterations after which HᵀH and XᵀH are computed anew: until then they are kept up to date


class RowDescent(Solver):
    """One sweep over all rows; a row's coordinates are minimised exactly, one after the other.

    For an objective without the diagonal they are gone over until the row's nonnegative least squares problem
    is solved.

    A sweep over a sparse A costs the memory traffic of one product and is compiled as a whole. Soon most rows
    are done and few still move; an iteration therefore adds sweeps over those few, as many as cost about
    another full sweep. So it is with the Gram matrix of a sparse X: through XᵀH a sweep is two passes over X,
    and no row of A is formed. Any other A is taken in blocks of rows: the operator multiplies a block with H
    (BLAS for dense A), and the compiled update corrects for the rows of the same block that have changed
    meanwhile. The objective never rises, and is tracked exactly.

    An H that is held as a `csr_array` stays one. A row then moves in the columns in which it or a neighbour
    has weight, all others being at their best value, zero; the cost follows the nonzeros of H, not k.
    """

    needs: ClassVar[tuple[type, ...]] = (HasRowProblem,)

    def check(self, problem: Problem) -> None:
        """Refuse an A on other machines, too."""
        super().check(problem)
        _refuse_remote(type(self).__name__, problem.operator)

    def advance(self, problem: Problem, states: Sequence[State]) -> None:
        """Sweep all starts: side by side, or one after the other if H is held sparse."""
        if is_sparse_factor(states[0].H):
            for state in states:
                _SparseFactorSweep(problem, state).run()
            return
        H = on_lines([state.H for state in states])
        A, G = problem.operator, _gram_matrices(states, H)
        sweep = _FactoredSweep(problem, H, G, states) if A.factored else _sweep_of(problem, H, G)
        by_entries = A.is_sparse or A.is_streamed or A.factored
        squared_gradient = sweep.sparse() if by_entries else sweep.blocks()
        for s, state in enumerate(states):
            own = _of_start(H, s, len(states))
            state.sweep(own, float(sweep.decrease[s]), float(np.sqrt(squared_gradient[s])))
            state.memory["gram"] = sweep.G[s]
            state.memory["age"] = state.memory.get("age", 0) + 1


def _refuse_remote(name: str, operator: Operator) -> None:
    if operator.is_remote:
        raise CombinationError(
            f"{name} changes H after every few rows of A, and the rows of {operator!r} lie with workers: all "
            "of them would be fetched in each iteration. Solvers that multiply, such as 'anls' and 'hals', "
            "suit it; if the objective has none, bring A here if it fits: A.toarray()."
        )


def sweep_rows(problem: Problem, H: Any, active: Array, sweeps: int) -> Any:
    """H after sweeps over the rows with 1 in the mask `active`; it may be changed.

    Of a sparse A, and of the Gram matrix of a sparse X, only those rows are read. Any other A is swept in
    blocks of rows, those that hold one of them.
    """
    A, n = problem.operator, problem.operator.n
    if is_sparse_factor(H):
        once = _SparseFactorSweep(problem, State(H, stationarity=0.0))  # zeros open if that pays
        once._sweep_rows(active, sweeps, np.zeros(n))
        return once.H
    G = _kernels.gram(H, 1)
    sweep = _FactoredSweep(problem, H, G, [State(H)]) if A.factored else _sweep_of(problem, H, G)
    for _ in range(sweeps):
        if A.is_sparse or A.factored:
            sweep._sweep_rows(A.diagonal(), active, np.zeros(n))
        else:
            sweep.blocks(active)
    return H


def _still_moving(row_gradient: Array) -> tuple[Array, int]:
    """The rows that hold nearly all of the gradient, and how many sweeps over them cost a full one."""
    n = len(row_gradient)
    active = (row_gradient > NEGLIGIBLE * row_gradient.sum() / n).astype(np.uint8)
    return active, min(n // max(int(active.sum()), 1) - 1, MOST_PARTIAL)


def _of_start(wide: Array, s: int, starts: int) -> Array:
    """The columns of start s in an array that holds all starts side by side."""
    return wide if starts == 1 else np.ascontiguousarray(np.split(wide, starts, axis=1)[s])


def _some_are_stale(states: Sequence[State]) -> bool:
    return any(state.memory.get("age", 0) % FRESH_GRAM == 0 for state in states)


def _gram_matrices(states: Sequence[State], H: Array) -> Array:
    if _some_are_stale(states):
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
        diagonal, row_gradient = self.A.diagonal(), np.zeros(self.A.n)
        met = self._sweep_rows(diagonal, np.ones(self.A.n, dtype=np.uint8), row_gradient)
        active, sweeps = _still_moving(row_gradient)
        for _ in range(sweeps):
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

    def blocks(self, active: Array | None = None) -> Array:
        """Sweep over blocks of rows whose products the operator computes; return the squared gradient met.

        Blocks without an `active` row are left out.
        """
        A, H, row, squared_gradient = self.A, self.H, self.row, np.zeros_like(self.decrease)
        cursor = A.row_products(H)
        # Corrections inside a block cost size / 2n of the product: small against it, large enough for BLAS.
        for rows in split(A.n, max(16, min(256, A.n // 16))):
            if active is not None and not active[rows].any():
                continue
            before = H[rows].copy()
            block, product = np.ascontiguousarray(A.block(rows)), np.ascontiguousarray(cursor.product(rows))
            _kernels.row_sweep_block(
                block, rows.start, product, H, self.G, row.offset, row.full_diagonal,
                self.cycles, *row.ignored.arrays, self.decrease, squared_gradient,
            )  # fmt: skip
            cursor.update(rows, H[rows] - before)
        return squared_gradient


class _StreamedSweep(_Sweep):
    """The same for a sparse A that is read in blocks of rows, to the bit: they are cut where steps end."""

    def sparse(self) -> Array:
        """Sweep over all rows as they are read, then over those that still move, which are gathered first."""
        row_gradient = np.zeros(self.A.n)
        met = self._sweep_blocks(self.A.blocks, np.ones(self.A.n, dtype=np.uint8), row_gradient)
        active, sweeps = _still_moving(row_gradient)
        if sweeps > 0:
            with self.A.with_rows(active) as blocks:
                for _ in range(sweeps):
                    self._sweep_blocks(blocks, active, row_gradient)
        return met

    def _sweep_blocks(self, blocks: Callable[[int], Any], active: Array, row_gradient: Array) -> Array:
        row, squared_gradient, diagonal = self.row, np.zeros_like(self.decrease), self.A.diagonal()
        step = _kernels.row_sweep_step(self.A.n, int(active.sum()), row.ignored.any)
        for rows, indptr, indices, values in blocks(step):
            _kernels.row_sweep_sparse(
                indptr, indices, values, diagonal, self.H, self.G, row.offset,
                row.full_diagonal, self.cycles, *row.ignored.arrays, active, row_gradient,
                self.decrease, squared_gradient, rows.start,
            )  # fmt: skip
        return squared_gradient


def _sweep_of(problem: Problem, H: Array, G: Array) -> _Sweep:
    return (_StreamedSweep if problem.operator.is_streamed else _Sweep)(problem, H, G)


class _SparseFactorSweep:
    """One iteration over the H of one state, a `csr_array`; interrupted, it leaves the state as it was.

    An entry of zero is left at zero while its gradient is so small that all of them together would hold a
    share `UNOPENED` of the squared gradient: H would else fill up with entries that do not last.
    """

    def __init__(self, problem: Problem, state: State) -> None:
        A: Any = problem.operator
        H: Any = state.H
        self.A, self.H, self.state = A, H, state
        self.row = problem.objective.row_problem
        self.age: int = state.memory.get("age", 0)
        self.G: Array = gram(H) if self.age % FRESH_GRAM == 0 else state.memory["gram"].copy()
        # The number of zeros is first bounded by the nonzeros of neighbours' rows.
        zeros: float = state.memory.get("zeros", A.values.size / A.n * H.nnz)
        self.opening = UNOPENED * state.stationarity**2 / max(zeros, 1)
        self.decrease = np.zeros(1)

    def run(self) -> None:
        """Sweep over all rows, then over those that still move."""
        row_gradient = np.zeros(self.A.n)
        squared_gradient, zeros = self._sweep_rows(np.ones(self.A.n, dtype=np.uint8), 1, row_gradient)
        self._sweep_rows(*_still_moving(row_gradient), row_gradient)
        self.state.sweep(self.H, float(self.decrease[0]), float(np.sqrt(squared_gradient)))
        self.state.memory |= {"gram": self.G, "age": self.age + 1, "zeros": zeros}

    def _sweep_rows(self, active: Array, sweeps: int, row_gradient: Array) -> tuple[float, int]:
        A, row, squared_gradient = self.A, self.row, np.zeros(1)
        indptr, indices, values, zeros = _kernels.sparse_factor_sweeps(
            A.indptr, A.indices, A.values, A.diagonal(), *factor_arrays(self.H), self.G, row.offset,
            row.full_diagonal, MOST_CYCLES[row.full_diagonal], sweeps, self.opening, active, row_gradient,
            self.decrease, squared_gradient,
        )  # fmt: skip
        self.H = sparse.csr_array((values, indices, indptr), shape=self.H.shape)
        return float(squared_gradient[0]), zeros


class _FactoredSweep(_Sweep):
    """The same for an A made of a sparse X, through Z = diag(w) Xᵀ diag(s) H: no row of A is formed."""

    def __init__(self, problem: Problem, H: Array, G: Array, states: Sequence[State]) -> None:
        super().__init__(problem, H, G)
        self.states = states
        # Kept up to date like HᵀH: to compute it anew would add a third to the cost of a sweep.
        fresh = _some_are_stale(states)
        self.Z = self.A.factored.inward(H) if fresh else on_lines([state.memory["Z"] for state in states])

    def sparse(self) -> Array:
        """Sweep as over the rows of a sparse A, and leave to each start its own Z."""
        met, starts = super().sparse(), len(self.states)
        for s, state in enumerate(self.states):
            state.memory["Z"] = _of_start(self.Z, s, starts)
        return met

    def _sweep_rows(self, diagonal: Array, active: Array, row_gradient: Array) -> Array:
        row, squared_gradient = self.row, np.zeros_like(self.decrease)
        _kernels.row_sweep_factored(
            *self.A.factored.arrays, diagonal, self.Z, self.H, self.G, row.offset,
            row.full_diagonal, self.cycles, *row.ignored.arrays, active, row_gradient,
            self.decrease, squared_gradient,
        )  # fmt: skip
        return squared_gradient


class Coordinate(Solver):
    """Minimise over one entry of H at a time, exactly, column after column.

    The textbook method: it reads A once for every column of H, `row_descent` once for all, and
    runs on one thread, since the order of the entries is the method. For the absolute loss it is the only
    one.
    """

    needs: ClassVar[tuple[type, ...]] = (HasColumns,)

    def check(self, problem: Problem) -> None:
        """Refuse an A on other machines, too."""
        super().check(problem)
        _refuse_remote(type(self).__name__, problem.operator)

    def advance(self, problem: Problem, states: Sequence[State]) -> None:
        """Go once over all entries of every start."""
        for state in states:
            columns = problem.objective.columns(state.H)
            for column in range(state.H.shape[1]):
                columns.descend(column)
            state.sweep(state.H, columns.decrease, columns.stationarity)
