"""ColumnDescent grown one after the other from nothing: from their best samples, or by coordinate descent."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.exceptions import CombinationError
from symclust.objectives import ColumnDescent, HasColumns
from symclust.operators import Operator
from symclust.registry import option_name
from symclust.solvers import Problem
from symclust.starts._base import Formula, Setting, Start

__all__ = ["Greedy", "GreedyAsPrinted", "GreedyThroughout", "Zero"]


class ByColumns(Formula):
    """An init that grows one column after the other, visiting the rows of A one by one.

    It can be cut short: if the time is up, the columns that are left stay zero.
    """

    needs: ClassVar[tuple[type, ...]] = (HasColumns,)
    fixed: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        """Refuse an A whose rows are not at hand too."""
        super().check(problem)
        if problem.operator.is_remote:
            raise CombinationError(
                f"init={option_name(type(self).__name__)!r} visits the rows of A, cluster by cluster. "
                f"Those of {problem.operator!r} lie with workers: all of A would come here. Choose "
                "init='merge' or 'random'."
            )

    def find(self, setting: Setting) -> list[Start]:
        """Return the point, cut short if the time is up."""
        with single_threaded_blas():
            return [Start(self.grow(setting.problem.objective, setting.n_columns, setting.control.is_over))]

    def factor(self, objective: Any, n_columns: int, rng: np.random.RandomState | None = None) -> Array:
        """Return H; `rng` is not used."""
        return self.grow(objective, n_columns)

    def grow(self, objective: HasColumns, n_columns: int, is_over: Callable[[], bool] | None = None) -> Array:
        """Return H, with columns as far as the time allows: at least one."""
        operator = objective.operator
        H = np.zeros((operator.n, n_columns), dtype=operator.dtype)
        columns, degrees = objective.columns(H), operator.degrees()
        for j in range(n_columns):
            if j and is_over is not None and is_over():
                break
            self.fill(columns, j, degrees)
        return H

    @abstractmethod
    def fill(self, columns: ColumnDescent, j: int, degrees: Array) -> None:
        """Fill column j, given those before it."""


class Greedy(ByColumns):
    """ColumnDescent grown from their best samples, offdiagonal Algorithm 6.

    A column begins with the sample that has the largest sum of similarities in the residual. The samples that
    are most similar to those already in it follow, one by one, each with the entry that minimises the
    objective given the entries so far. After 2k picks the order of the others is kept. Costs about k sweeps
    of coordinate descent.

    Attributes
    ----------
    rescored : float
        Picks after which the order of the others is kept, in multiples of k (Algorithm 6, line 9).
    """

    rescored: ClassVar[float] = 2

    def fill(self, columns: ColumnDescent, j: int, degrees: Array) -> None:
        """Visit the samples in the order of their ties to those that are in the column."""
        columns.open(j)
        _grow(columns, self.residual(columns.A, columns.H, j, degrees), self.rescored * columns.H.shape[1])
        columns.close()
        if columns.ignored.any:  # a sample may have had nothing but ignored pairs when it was visited
            columns.descend(j)

    def residual(self, *given: Any) -> Residual:
        """Return what the columns before leave over."""
        return Residual(*given)


class GreedyAsPrinted(Greedy):
    """Algorithm 6 to the letter, for comparison: the diagonal of A takes part, and a column begins with 1.

    Equal to `Greedy` in the first column of a binary A with a unit diagonal. With a diagonal of zeros, direct
    ties count less than those through common neighbours, and on the scale of a weighted A the first entry may
    be far off.
    """

    def residual(self, *given: Any) -> Residual:
        """Return what the columns before leave over, as printed."""
        return PrintedResidual(*given)


class GreedyThroughout(GreedyAsPrinted):
    """Algorithm 5 to the letter, for comparison: ties are computed anew for each pick, O(k n³) for a dense A.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.starts import GreedyThroughout
    >>> from symclust.objectives import OffDiagonal
    >>> from symclust.operators import as_operator
    >>> GreedyThroughout().factor(OffDiagonal(as_operator(np.kron(np.eye(2), np.ones((2, 2))))), 2)
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """

    rescored: ClassVar[float] = np.inf


class Zero(ByColumns):
    """The first sweep of coordinate descent over H = 0.

    Without the diagonal of A nothing can leave zero: every entry of a column multiplies the others, which are
    zero too. A column that stays empty therefore gets one entry, at the sample with the largest sum of
    similarities in the residual, which changes the objective not at all, and then its sweep. The first
    columns grow dense, the later ones explain the rest.
    """

    def fill(self, columns: ColumnDescent, j: int, degrees: Array) -> None:
        """Sweep over the column; if it stays empty, place one entry and sweep then."""
        if columns.full_diagonal:
            columns.descend(j)
        if columns.H[:, j].any():
            return
        residual = Residual(columns.A, columns.H, j, degrees)
        seed = residual.seed
        columns.open(j)
        columns.place(seed, residual.height)
        # The others first: as long as they are zero, the entry by itself would become zero again.
        columns.visit(np.append(np.delete(columns.all_ids, seed), seed))
        columns.close()


class Residual:
    """R = A − H[:, :j] H[:, :j]ᵀ, the part that earlier columns do not explain; never formed.

    The diagonal of A takes no part. In its place stands `level`, the largest similarity that the
    best-connected sample has to another: a sample is as similar to itself as samples are to each other. It
    makes direct ties count beside those through common neighbours. For a binary similarity it is 1; if
    nothing is left to explain it is 0. `seed` is the sample with the largest sum of similarities in R.
    """

    def __init__(self, operator: Operator, H: Array, j: int, degrees: Array) -> None:
        self.A, self.H = operator, H[:, :j]
        diagonal = self.A.diagonal()
        sums = degrees - self.H @ self.H.sum(axis=0)
        lengths = np.einsum("il,il->i", self.H, self.H)
        self.level = max(float(self._row(int((sums + lengths - diagonal).argmax())).max(initial=0.0)), 0.0)
        self.own = self.level - diagonal
        self.seed = int((sums + self.own).argmax())

    @property
    def height(self) -> float:
        """The first entry of a column: 1 for a binary similarity, as in Algorithm 5, line 14."""
        return float(np.sqrt(self.level))

    def _row(self, i: int) -> Array:
        row = self.A.row(i) - self.H @ self.H[i]
        row[i] = 0
        return row


class PrintedResidual(Residual):
    """R as printed: with the diagonal of A, and columns that begin with 1."""

    def __init__(self, operator: Operator, H: Array, j: int, degrees: Array) -> None:
        super().__init__(operator, H, j, degrees)
        self.seed = int((degrees - self.H @ self.H.sum(axis=0)).argmax())
        self.own = np.zeros_like(self.own)

    @property
    def height(self) -> float:
        """The first entry of a column."""
        return 1.0


def _grow(columns: ColumnDescent, residual: Residual, picks: float) -> None:
    """Visit all entries of the open column in the order of their samples' ties to it."""
    ties = _Ties(residual)
    columns.visit(np.array([residual.seed]))
    columns.place(residual.seed, residual.height)
    ties.add(residual.seed)
    for _ in range(
        int(min(picks, residual.A.n)) - 3
    ):  # the last score ranks all others, Algorithm 6, lines 9-14
        k = ties.strongest()
        columns.visit(np.array([k]))
        ties.add(k)
    columns.visit(ties.ranking())


class _Ties:
    """How strongly samples are tied to those already picked: s = Rw, w the sum of the picked rows of A."""

    def __init__(self, residual: Residual) -> None:
        self.A, self.H, self.own = residual.A, residual.H, residual.own
        self.free = np.ones(self.A.n, dtype=bool)
        self.w: Array = np.zeros(self.A.n, dtype=self.A.dtype)
        self.Aw: Array = np.zeros(self.A.n, dtype=self.A.dtype)
        self.Hw = np.zeros(self.H.shape[1], dtype=self.A.dtype)

    def add(self, k: int) -> None:
        """Pick sample k."""
        self.free[k] = False
        row = self.A.row(k)
        row[k] += self.own[k]
        near: Array = np.flatnonzero(row)
        self.w += row
        self.Aw += self.A.combine_rows(near, row[near])
        self.Hw += row[near] @ self.H[near]

    def strongest(self) -> int:
        """Return the free sample with the strongest tie.

        Only samples that share a neighbour with a picked one can have a positive tie: on a sparse graph few.
        """
        near = np.flatnonzero(self.free & (self.Aw > 0))
        ties = self._of(near)
        if not ties.size or ties.max() <= 0:
            near = np.flatnonzero(self.free)
            ties = self._of(near)
        return int(near[ties.argmax()])

    def ranking(self) -> Array:
        """Return the free samples, the strongest ties first."""
        free = np.flatnonzero(self.free)
        return free[np.argsort(-self._of(free), kind="stable")]

    def _of(self, ids: Array) -> Array:
        return self.Aw[ids] - self.H[ids] @ self.Hw + self.own[ids] * self.w[ids]
