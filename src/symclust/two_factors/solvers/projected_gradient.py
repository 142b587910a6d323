"""Projected gradient steps on each least squares problem."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.two_factors.row_problem import RowProblem
from symclust.two_factors.solvers._alternating import AlternatingSolver

__all__ = ["ProjectedGradient"]

STEPS = 10  # on each problem before the other factor's turn; they cost no product with X


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
