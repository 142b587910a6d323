"""Starts for factors in any set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from symclust import _kernels, registry
from symclust._threads import single_threaded_blas
from symclust.constraints import Nonnegative
from symclust.initialization import turned_embedding
from symclust.operators import Operator, Shifted
from symclust.solvers import Control, Problem, Solver, Start, Starts, make_starts

FEW = 10_000  # rows up to which sweeps over computed rows take seconds
SCOUTING_STEPS = 150  # of projected gradient, in the place of 20 sweeps over the rows
TOO_SHORT = 10.0  # how often a given start would fit into the one of its direction that fits best
NOISE = 0.1  # of starts that may turn negative, relative to a random point; 0.01 left some in saddle points


def feasible_starts(problem: Problem, starts: Starts, control: Control) -> list[Start]:
    """Return starting points in the set.

    "merge" makes its clusters from a nonnegative factor, whatever the set is; "random" asks the set itself;
    "spectral" keeps the signs of the eigenvectors; everything is then projected. Stationarity is measured
    against a random point of the set: the gradient at a good start would set a bar that has nothing to do
    with the problem.
    """
    operator, constraint, k = problem.operator, problem.constraint, starts.n_columns
    level = random_level(problem, k)
    name = starts.init if isinstance(starts.init, str) else ""
    with single_threaded_blas():
        isolated = operator.isolated()
        if name == "random":
            points = [
                Start(constraint.random((operator.n, k), starts.rng, level)) for _ in range(starts.n_init)
            ]
        elif name == "spectral" and not constraint.nonnegative:
            points = [Start(turned_embedding(operator, k))]
        else:
            orthant = replace(problem, constraint=Nonnegative())
            scout = orthant_solver(operator)
            if not sweeps_pay(operator):
                starts = replace(starts, scout_iterations=SCOUTING_STEPS)
            points = make_starts(orthant, scout, replace(starts, scout=scout), control)
            if name:
                leave_saddles(points, problem, level)
            else:
                lengthen(points[0], operator)
        reference = reference_at_random(problem, (operator.n, k), level)
        for point in points:
            point.H[isolated] = 0
            point.H = np.ascontiguousarray(constraint.project(point.H), dtype=operator.dtype)
            point.reference = reference
    return points


def leave_saddles(points: list[Start], problem: Problem, level: float) -> None:
    """Move nonnegative starts to where descent can go on from.

    Negative similarities may leave nothing to a nonnegative factor; at H = 0 the gradient is zero, and the
    positive eigenvalues of M say where to go. Where H may be negative, a start that respects a symmetry of M
    would respect it for ever, and end in a saddle point: a little noise, the same on every run, breaks it.
    """
    for point in points:
        if not point.H.any():
            columns = min(point.H.shape[1], max(1, problem.operator.n - 1))  # all of them may be too many
            point.H[:, :columns] = turned_embedding(problem.operator, columns)
        if not problem.constraint.nonnegative:
            noise = np.random.default_rng(0).standard_normal(point.H.shape)
            point.H += (NOISE * level * noise).astype(point.H.dtype)


def lengthen(point: Start, operator: Operator) -> None:
    """Scale up a given start that is far too small: near H = 0 gradients are small, and all looks stationary.

    ‖M − c²HHᵀ‖ is least for c² = ⟨H, MH⟩ / ‖HᵀH‖².
    """
    H, product = point.H, operator @ point.H
    fit, square = _kernels.inner(H.reshape(-1), product.reshape(-1)), _kernels.norm(_kernels.gram(H)[0])
    if fit > TOO_SHORT**2 * square**2:
        point.H = H * H.dtype.type(np.sqrt(fit) / square)


def sweeps_pay(operator: Operator) -> bool:
    """Whether nonnegative factors are better found by rows: where A is an array, or rows are cheap and few.

    Row descent ends in clearly better minima than steps along the gradient. But rows of a Gram matrix are
    computed, block by block: for 100,000 documents a sweep takes ten times as long as a product.
    """
    A = operator.operator if isinstance(operator, Shifted) else operator
    return A.is_dense or A.is_sparse or (operator.rows_are_cheap and operator.n <= FEW)


def orthant_solver(operator: Operator) -> Solver:
    """Return the solver for nonnegative factors that suits the operator."""
    if sweeps_pay(operator):
        return registry.resolve("solvers", "row_descent")()
    return registry.resolve("solvers", "projected_gradient")("accelerated")


def random_level(problem: Problem, k: int) -> float:
    """Return the standard deviation of normal entries for which ‖HHᵀ‖ is about ‖M‖."""
    norm = float(np.sqrt(problem.objective.squared_norm))
    return float(np.sqrt(norm / (problem.operator.n * np.sqrt(k)))) or 1.0


def reference_at_random(problem: Problem, shape: tuple[int, int], level: float) -> float:
    """Return ‖∇ᴾf‖ at a random point of the set, the same on every run."""
    H = problem.constraint.random(shape, np.random.RandomState(0), level)
    H = np.ascontiguousarray(H, dtype=problem.operator.dtype)
    return problem.measure(H, problem.operator @ H)[1]
