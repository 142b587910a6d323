"""Inits: they find the points where the descent begins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import qr

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.exceptions import CombinationError
from symclust.objectives import HasSparseMeasure, HasSurrogate, missing_methods
from symclust.operators import Operator
from symclust.registry import option_name
from symclust.solvers import Control, Problem, Result, RowDescent, Solver, run, sweeps_pay

FIRST_SWEEPS = 20
MANY_ENTRIES = 1 << 24  # 128 MB of double precision
MANY_COLUMNS = 64
NOISE = 0.1  # of starts that may turn negative, relative to a random point; 0.01 left some in saddle points


@dataclass
class Start:
    """One starting point, an array or a `csr_array`."""

    H: Any
    reference: float | None = None  # the stationarity that later ones are compared with; None for that of H
    merge_path: np.recarray | None = None  # the merges that led to it
    interrupted: bool = False  # whether Ctrl-C ended the descent that led to it
    is_clustering: bool = False  # whether it is a good clustering, so that few samples move in the descent


@dataclass(frozen=True)
class Setting:
    """A problem, how it is solved, and how many starts it takes."""

    problem: Problem
    solver: Solver
    control: Control
    n_columns: int  # of H
    n_init: int
    rng: np.random.RandomState
    scout: Solver | None = None  # of the first, short descents; None for one that suits the problem
    scout_iterations: int = FIRST_SWEEPS
    dense: bool = False  # whether H has to be an array whatever its size
    # Makes the graph that A was made of, perhaps by a copy of the entries; None if that is A itself.
    graph: Callable[[], Operator] | None = None

    @property
    def holds_sparse(self) -> bool:
        """Whether a start with few nonzeros, read off labels or given as a sparse array, is a `csr_array`.

        That is for n × k of at least `MANY_ENTRIES` and k of at least `MANY_COLUMNS`: a dense array is large
        there, and sweeps over it are no faster. It takes a sparse A, row descent over H ≥ 0, and no ignored
        pairs. Starts without zeros, such as random ones, are dense arrays whatever their size.
        """
        problem = self.problem
        return (
            not self.dense
            and has_many_zeros((problem.operator.n, self.n_columns))
            and problem.operator.is_sparse
            and isinstance(problem.objective, HasSparseMeasure)
            and not problem.objective.row_problem.ignored.any
            and "nonnegative" in problem.constraint.offers
            and isinstance(self.solver, RowDescent)
        )

    @property
    def has_surrogate(self) -> bool:
        """Whether another, easier objective leads random starts to where this one goes on."""
        return isinstance(self.problem.objective, HasSurrogate)

    def descend_briefly(self, factors: list[Array]) -> list[Result]:
        """Take the first sweeps: by rows if A gives them at a fair price, otherwise by the solver itself."""
        problem = self.problem
        if isinstance(problem.objective, HasSurrogate):
            problem = replace(problem, objective=problem.objective.surrogate())
        brief = replace(self.control, max_iter=self.scout_iterations, tol=0.0, callback=None)
        by_rows = sweeps_pay(problem.operator) or bool(self.solver.lacks(problem.objective))
        scout = self.scout or (RowDescent() if by_rows else self.solver)
        return run(problem, scout, factors, brief, certify=False)


def has_many_zeros(shape: tuple[int, int]) -> bool:
    """Whether a factor of this shape that is read off labels is better held by its nonzeros."""
    return shape[1] >= MANY_COLUMNS and shape[0] * shape[1] >= MANY_ENTRIES


class Init(ABC):
    """Finds the points where the descent begins.

    An objective has to have the methods it `needs`, from `symclust.objectives`. With `fixed`, all starts are
    the same, whatever the random state; with `any_set`, there are starts in other sets than H ≥ 0 and for
    similarities of any sign; with `two_factors`, also for the two factors of a data matrix.
    `least_iterations` follow even if the time is up: at least one after random or given points, none if work
    has gone into them.
    """

    needs: ClassVar[tuple[type, ...]] = ()
    fixed: ClassVar[bool] = False
    any_set: ClassVar[bool] = True
    two_factors: ClassVar[bool] = False
    least_iterations: ClassVar[int] = 0

    def check(self, problem: Problem) -> None:
        """Refuse a problem that this init is not for, before the first product."""
        if missing := missing_methods(self.needs, problem.objective):
            raise CombinationError(
                f"init={option_name(type(self).__name__)!r} needs {', '.join(missing)} of the objective, "
                f"which {type(problem.objective).__name__} does not offer. Choose init='merge' or 'random'."
            )

    @abstractmethod
    def find(self, setting: Setting) -> list[Start]:
        """Starting points in H ≥ 0."""

    def find_in_set(self, setting: Setting, orthant: Setting, level: float) -> list[Start]:
        """Points whose projections start a problem on another set: by default those in H ≥ 0.

        `orthant` is the same problem for H ≥ 0, `level` the standard deviation of normal entries for which
        ‖HHᵀ‖ is about ‖M‖. Negative similarities may leave nothing to a nonnegative factor; at H = 0 the
        gradient is zero, and the positive eigenvalues of M have the direction. If H may be negative, a start
        that respects a symmetry of M would respect it for ever, and end in a saddle point: a little noise,
        the same on every run, breaks it.
        """
        problem, points = setting.problem, self.find(orthant)
        for point in points:
            if not point.H.any():
                columns = min(point.H.shape[1], max(1, problem.operator.n - 1))  # all of them may be too many
                point.H[:, :columns] = turned_embedding(problem.operator, columns)
            if not problem.constraint.nonnegative:
                noise = np.random.default_rng(0).standard_normal(point.H.shape)
                point.H += (NOISE * level * noise).astype(point.H.dtype)
        return points


class Formula(Init):
    """An init whose H is computed from A and the objective at once, without a descent."""

    @abstractmethod
    def factor(self, objective: Any, n_columns: int, rng: np.random.RandomState | None = None) -> Array:
        """H for an objective, with A as its operator, and random numbers if there are any."""

    def find(self, setting: Setting) -> list[Start]:
        """The points of the formula."""
        objective, k = setting.problem.objective, setting.n_columns
        with single_threaded_blas():
            return [Start(self.factor(objective, k, setting.rng)) for _ in range(setting.n_init)]


def turned_embedding(operator: Operator, n_columns: int) -> Array:
    """VΛ^½Q, with VΛVᵀ the best positive semidefinite approximation of A of rank k and Q a rotation.

    The rotation makes k far-apart rows, found by a pivoted QR factorization, as close to the axes as possible
    (the polar factor of these rows).
    """
    values, vectors = operator.leading(n_columns)
    embedding = vectors * np.sqrt(np.maximum(values, 0))
    _, _, pivots = qr(embedding.T, mode="economic", pivoting=True)
    left, _, right = np.linalg.svd(embedding[pivots[:n_columns]])
    return (embedding @ (left @ right).T).astype(operator.dtype, copy=False)
