"""Solvers of two factors: each lowers the least squares problem of one factor, then of the other.

An iteration costs one product with X and one with Xᵀ, whichever solver it is.

===========================  ===============================================================================
`bpp`                        each problem solved exactly, by block principal pivoting
`active_set`                 the same by the active-set method: slower, for comparison
`hals`                       one sweep over the columns of each factor
`multiplicative`             multiplicative updates of all entries at once: simple, slow
`multiplicative_as_printed`  the same, without an exact last step
`projected_gradient`         ten projected gradient steps on each problem
===========================  ===============================================================================
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, cast

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.nnls import active_set, block_pivoting
from symclust.objectives import Objective
from symclust.solvers import Problem, Solver, State, side_by_side
from symclust.two_factors.objective import RowProblem, TwoFactors

__all__ = ["ActiveSet", "Bpp", "Hals", "Multiplicative", "MultiplicativeAsPrinted", "ProjectedGradient"]

STEPS = 10  # on each problem before the other factor's turn; they cost no product with X


class AlternatingSolver(Solver):
    """Lower the problem of C for the W at hand, then that of W for the new C.

    XᵀW is known when an iteration begins and XC after its first half, so that both problems and the
    measurement afterwards take one product with X and one with Xᵀ. W comes last: memberships then belong to
    the features that are reported, as those of unseen samples do.

    If it `ends_exactly`, a fit ends with an exact step on W.
    """

    needs: ClassVar[tuple[type, ...]] = (TwoFactors,)
    family: ClassVar[str] = "two_factors.solvers"
    ends_exactly: ClassVar[bool] = True

    @abstractmethod
    def minimise(self, problem: RowProblem, Y: Array) -> Array:
        """A point of the problem that is no worse than Y; Y itself stays as it is."""

    def advance(self, problem: Problem, states: Sequence[State]) -> None:
        """Take every state one iteration further; X is read once for all of them."""
        objective = cast(TwoFactors, problem.objective)
        operator = objective.operator
        features = [self._features(objective, state) for state in states]
        products = side_by_side(operator.times, features)
        points = [
            objective.join(self._samples(objective, state, C, XC), C)
            for state, C, XC in zip(states, features, products, strict=True)
        ]
        transposed = side_by_side(operator.transposed_times, [operator.sides(H)[0] for H in points])
        for state, H, XC, XtW in zip(states, points, products, transposed, strict=True):
            state.move(H, np.concatenate([XC, XtW]))

    def _features(self, objective: TwoFactors, state: State) -> Array:
        assert state.AH is not None  # the loop measures the first point, and every move brings its product
        W, C = objective.operator.sides(state.H)
        problem = objective.features_problem(W, objective.operator.sides(state.AH)[1], _kernels.gram(W)[0])
        return self.minimise(problem, C)

    def _samples(self, objective: TwoFactors, state: State, C: Array, XC: Array) -> Array:
        W = objective.operator.sides(state.H)[0]
        return self.minimise(objective.samples_problem(C, XC, _kernels.gram(C)[0]), W[:, objective.free])


class Bpp(AlternatingSolver):
    """Every half step solves its problem exactly (Kim and Park 2011; thesis 2.2, NMF/ANLS)."""

    aliases: ClassVar[tuple[str, ...]] = ("anls",)

    @classmethod
    def lacks(cls, objective: Objective) -> list[str]:
        """Name separate rows too: pivoting solves them one by one."""
        missing = super().lacks(objective)
        return missing or ([] if cast(TwoFactors, objective).separate_rows else ["separate rows"])

    def minimise(self, problem: RowProblem, Y: Array) -> Array:
        """Solve, pivoting from the support of Y: it hardly changes from step to step."""
        return block_pivoting(problem.left, problem.right, Y)


class ActiveSet(Bpp):
    """Every half step solves its problem by letting in one variable at a time (Kim and Park 2008)."""

    aliases: ClassVar[tuple[str, ...]] = ()

    def minimise(self, problem: RowProblem, Y: Array) -> Array:
        """Solve, beginning at Y."""
        return active_set(problem.left, problem.right, Y)


class Hals(AlternatingSolver):
    """Every half step is a sweep over the columns, each set to its best value (Cichocki and Phan 2009)."""

    def minimise(self, problem: RowProblem, Y: Array) -> Array:
        """Sweep once from Y."""
        return problem.sweep(Y)


class Multiplicative(AlternatingSolver):
    """Every entry is scaled by the ratio of attraction and repulsion (Lee and Seung 2001).

    Never rises, never leaves zero, and slows down long before it is stationary: thesis, figure 1.
    """

    def minimise(self, problem: RowProblem, Y: Array) -> Array:
        """Scale all entries once."""
        repulsion, attraction = problem.parts(Y)
        ratio = np.divide(attraction, repulsion, out=np.ones_like(repulsion), where=repulsion > 0)
        ratio *= Y
        return ratio


class MultiplicativeAsPrinted(Multiplicative):
    """The same, and memberships stay as the last update leaves them, for comparison.

    Their exact values for the features found have zeros that the updates do not find (thesis, table 4), and
    `transform` gives training samples these instead.
    """

    ends_exactly: ClassVar[bool] = False


class ProjectedGradient(AlternatingSolver):
    """Every half step takes ten projected gradient steps of length 1/L (Lin 2007, with the exact L).

    The problem is quadratic with a k × k matrix, so L is known and no step has to be tried: none of them
    raises the objective.
    """

    def minimise(self, problem: RowProblem, Y: Array) -> Array:
        """Go down along the gradient."""
        bound = problem.lipschitz()
        if bound <= 0:
            return np.array(Y)
        size = Y.dtype.type(1 / bound)
        for _ in range(STEPS):
            Y = np.maximum(Y - size * problem.gradient(Y), 0)
        return Y
