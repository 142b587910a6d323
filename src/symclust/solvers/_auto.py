"""Which solver `auto` takes."""

from __future__ import annotations

from symclust.objectives import GivesGradient, GivesNormalEquations, Objective


def choose_solver(objective: Objective) -> str:
    """Return the name of the solver that suits an objective and the operator in it.

    Row descent needs one pass over A an iteration and the fewest iterations; but from an operator that can
    only multiply, a block of rows costs as much as the whole product. Without a gradient there is coordinate
    descent alone.
    """
    if not isinstance(objective, GivesGradient):
        return "coordinate"
    if objective.operator.rows_are_cheap:
        return "row_descent"
    return "anls" if isinstance(objective, GivesNormalEquations) else "projected_gradient"
