"""What the solvers share: C, then W, with one product each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, cast

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.solvers import Problem, Solver, State, side_by_side
from symclust.two_factors.objective import TwoFactors
from symclust.two_factors.row_problem import RowProblem

__all__ = ["AlternatingSolver"]


class AlternatingSolver(Solver):
    """Lower the problem of C for the W at hand, then that of W for the new C.

    XᵀW is known when an iteration begins and XC after its first half, so that both problems and the
    measurement afterwards take one product with X and one with Xᵀ. W comes last: memberships then belong to
    the features that are reported, as those of unseen samples do.
    """

    needs: ClassVar[tuple[type, ...]] = (TwoFactors,)
    family: ClassVar[str] = "two_factors.solvers"

    @abstractmethod
    def minimise(self, problem: RowProblem, Y: Array) -> Array:
        """Return a point of the problem that is no worse than Y; Y itself stays as it is."""

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
