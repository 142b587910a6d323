"""How close a point is to satisfying the optimality conditions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symclust import _kernels
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


def measure_optimality(problem: Problem, H: np.ndarray, reference: float) -> Optimality:
    """Compute all residuals afresh, from one product with A."""
    AH, G = problem.operator @ H, _kernels.gram(H)[0]
    gradient = problem.objective.gradient(H, AH, G)
    norm = float(np.linalg.norm(problem.constraint.projected_gradient(H, gradient)))
    return Optimality(
        primal_infeasibility=problem.constraint.violation(H),
        dual_infeasibility=float(max(0.0, -gradient[H <= 0].min(initial=0.0))),
        complementarity=float(np.abs(H * gradient).max(initial=0.0)),
        projected_gradient=norm,
        relative_projected_gradient=norm / reference if reference > 0 else 0.0,
        objective=problem.objective.value(H, AH, G),
    )
