"""Which solver: by name with its options, or the one that suits a problem."""

from __future__ import annotations

from inspect import signature
from typing import Any

from symclust import registry
from symclust.exceptions import CombinationError
from symclust.objectives import HasGradient, Objective
from symclust.operators import Operator
from symclust.solvers._base import Solver
from symclust.solvers.projected_gradient import ProjectedGradient
from symclust.solvers.row_descent import RowDescent

# A sweep of row descent may cost so many products. With a cost of 20 (all pairs of TDT2, in blocks of rows)
# it takes as long as ANLS, which needs eight times the iterations, and ends 2 % lower.
MOST_PRODUCTS = 30.0
FEW = 10_000  # rows up to which sweeps over computed rows take seconds
LOW_COST = 2.0  # of a sweep, in products: that much is well spent for any number of rows


def make_solver(name: str, **options: Any) -> Solver:
    """The solver of that name, with those options among the given ones that it has."""
    solver = registry.resolve("solvers", name)
    return solver(**{option: value for option, value in options.items() if _has(solver, option)})


def check_solver(name: Any, **options: Any) -> None:
    """Refuse an unknown solver, impossible values of its options, and options other than "auto" it lacks."""
    chosen = None if name == "auto" else registry.resolve("solvers", name, "auto")
    for option, value in options.items():
        if value != "auto" and (chosen is None or not _has(chosen, option)):
            known = registry.options("solvers")
            have = [repr(other) for other in known if _has(registry.resolve("solvers", other), option)]
            raise CombinationError(
                f"{option}={value!r} has no meaning for solver={name!r}: it belongs to {', '.join(have)}."
            )
    if name != "auto":
        make_solver(name, **options)


def _has(solver: type[Solver], option: str) -> bool:
    return option in signature(solver).parameters


def choose_solver(objective: Objective) -> str:
    """The name of the solver that suits an objective and the operator in it.

    Row descent needs the fewest iterations by far, and is taken wherever `sweeps_pay`. Otherwise it is the
    fastest of those that only multiply, on all graphs of `benchmarks/speed/solvers.py`. Without a gradient
    there is coordinate descent alone.
    """
    if not isinstance(objective, HasGradient):
        return "coordinate"
    return "row_descent" if sweeps_pay(objective.operator) else "barzilai_borwein"


def sweeps_pay(operator: Operator) -> bool:
    """Whether sweeps over the rows are better than products: by their cost with this operator."""
    return operator.sweep_cost <= MOST_PRODUCTS


def rows_pay(operator: Operator) -> bool:
    """Whether nonnegative factors in place of other sets are better found by rows.

    Row descent ends in clearly better minima than steps along the gradient. But the rows of a Gram matrix of
    dense data are computed, block by block, and that takes several products.
    """
    return operator.sweep_cost <= LOW_COST or (sweeps_pay(operator) and operator.n <= FEW)


def orthant_solver(operator: Operator) -> Solver:
    """The solver for nonnegative factors that suits the operator."""
    return RowDescent() if rows_pay(operator) else ProjectedGradient("accelerated")
