"""How close a point is to satisfying the optimality conditions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symclust import _kernels
from symclust.objectives import GivesGradient
from symclust.solvers import Problem


@dataclass(frozen=True)
class Optimality:
    """Residuals of the Karush-Kuhn-Tucker conditions at H, all zero at a stationary point.

    Attributes
    ----------
    primal_infeasibility : float
        How far the smallest entry of H lies below zero.
    dual_infeasibility : float
        How far the smallest gradient entry where H = 0 lies below zero.
    complementarity : float
        Largest |H · ∇f| of an entry.
    projected_gradient : float
        ‖∇ᴾf(H)‖.
    relative_projected_gradient : float
        The same relative to the first point: what `tol` is compared with.
    objective : float
        f(H).
    """

    primal_infeasibility: float
    dual_infeasibility: float
    complementarity: float
    projected_gradient: float
    relative_projected_gradient: float
    objective: float


@dataclass(frozen=True)
class EntryOptimality:
    """Residuals of optimality in every single entry of H, for objectives without a gradient.

    Attributes
    ----------
    primal_infeasibility : float
        How far the smallest entry of H lies below zero.
    possible_decrease : float
        What minimising over single entries would bring, each by itself, summed.
    relative_possible_decrease : float
        The same relative to the first point: what `tol` is compared with.
    objective : float
        f(H).
    """

    primal_infeasibility: float
    possible_decrease: float
    relative_possible_decrease: float
    objective: float


@dataclass(frozen=True)
class SetOptimality:
    """Residuals of optimality on a set other than H ≥ 0, all zero at a stationary point.

    Attributes
    ----------
    primal_infeasibility : float
        The largest amount by which H leaves the set.
    projected_gradient : float
        ‖∇ᴾf(H)‖, the part of the gradient that the set does not hold.
    relative_projected_gradient : float
        The same relative to a random point of the set: what `tol` is compared with.
    objective : float
        f(H).
    """

    primal_infeasibility: float
    projected_gradient: float
    relative_projected_gradient: float
    objective: float


def measure_optimality(
    problem: Problem, H: np.ndarray, reference: float
) -> Optimality | EntryOptimality | SetOptimality:
    """Compute all residuals afresh."""
    if "nonnegative" not in problem.constraint.offers:
        objective, norm = problem.measure(H, problem.operator @ H)
        relative = norm / reference if reference > 0 else 0.0
        return SetOptimality(problem.constraint.violation(H), norm, relative, objective)
    if isinstance(problem.objective, GivesGradient):
        return _measure_conditions(problem, H, reference)
    objective, decrease = problem.measure(H, None)
    return EntryOptimality(
        primal_infeasibility=problem.constraint.violation(H),
        possible_decrease=decrease,
        relative_possible_decrease=decrease / reference if reference > 0 else 0.0,
        objective=objective,
    )


def _measure_conditions(problem: Problem, H: np.ndarray, reference: float) -> Optimality:
    """One product with A gives all of them."""
    AH, G = problem.operator @ H, _kernels.gram(H)[0]
    gradient = problem.objective.gradient(H, AH, G)
    norm = _kernels.norm(problem.constraint.projected_gradient(H, gradient))
    return Optimality(
        primal_infeasibility=problem.constraint.violation(H),
        dual_infeasibility=float(max(0.0, -gradient[H <= 0].min(initial=0.0))),
        complementarity=float(np.abs(H * gradient).max(initial=0.0)),
        projected_gradient=norm,
        relative_projected_gradient=norm / reference if reference > 0 else 0.0,
        objective=problem.objective.value(H, AH, G),
    )
