"""Factors in any set: where they start, and the row of an unseen sample."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from symclust import _kernels
from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.constraints import Constraint
from symclust.nnls import block_pivoting
from symclust.operators import Operator
from symclust.solvers._base import Problem, Solver, sweeps_pay
from symclust.solvers._loop import Control, Result
from symclust.solvers._starts import Start, Starts, are_starts, descend, find_starts
from symclust.solvers.projected_gradient import ProjectedGradient
from symclust.solvers.row_descent import RowDescent
from symclust.starts import turned_embedding
from symclust.storage import recorded

FEW = 10_000  # rows up to which sweeps over computed rows take seconds
LOW_COST = 2.0  # of a sweep, in products: that much is well spent for any number of rows
SCOUTING_STEPS = 150  # of projected gradient, in the place of 20 sweeps over the rows
TOO_SHORT = 10.0  # how often a given start would fit into the one of its direction that fits best
NOISE = 0.1  # of starts that may turn negative, relative to a random point; 0.01 left some in saddle points
ROUNDS = 500  # of projected gradient for the k numbers of an unseen sample
STILL = 1e-6
NEGLIGIBLE = 1e-12  # of a column outside the span of others, relative to its square


def solve_in_set(
    problem: Problem, orthant: Problem, solver: Solver, starts: Starts, control: Control
) -> tuple[list[Result], list[Start]]:
    """Run `solver` from starts in the set of the problem; `orthant` is the same problem for factors H ≥ 0."""
    solver.check(problem)
    work = partial(feasible_starts, problem, orthant, starts, control)
    points = recorded("starts", work, starts.rng, partial(are_starts, problem, starts))
    return descend(problem, solver, starts, points, control), points


def feasible_starts(problem: Problem, orthant: Problem, starts: Starts, control: Control) -> list[Start]:
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
            scout = orthant_solver(operator)
            if not rows_pay(operator):
                starts = replace(starts, scout_iterations=SCOUTING_STEPS)
            points = find_starts(orthant, scout, replace(starts, scout=scout), control)
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


def rows_pay(operator: Operator) -> bool:
    """Whether nonnegative factors are better found by rows: where a sweep costs little, or rows are few.

    Row descent ends in clearly better minima than steps along the gradient. But the rows of a Gram matrix of
    dense data are computed, block by block, and that takes several products.
    """
    return operator.sweep_cost <= LOW_COST or (sweeps_pay(operator) and operator.n <= FEW)


def orthant_solver(operator: Operator) -> Solver:
    """Return the solver for nonnegative factors that suits the operator."""
    if rows_pay(operator):
        return RowDescent()
    return ProjectedGradient("accelerated")


def random_level(problem: Problem, k: int) -> float:
    """Return the standard deviation of normal entries for which ‖HHᵀ‖ is about ‖M‖."""
    norm = float(np.sqrt(problem.objective.squared_norm))
    return float(np.sqrt(norm / (problem.operator.n * np.sqrt(k)))) or 1.0


def reference_at_random(problem: Problem, shape: tuple[int, int], level: float) -> float:
    """Return ‖∇ᴾf‖ at a random point of the set, the same on every run."""
    H = problem.constraint.random(shape, np.random.RandomState(0), level)
    H = problem.operator.to_device(np.ascontiguousarray(H, dtype=problem.operator.dtype))
    return problem.measure(H, problem.operator @ H)[1]


class RowSolver:
    """min ‖a − Hh‖² for the row h of an unseen sample, from its normal equations.

    Where the set is one of rows, h lies in it; sets that tie rows together say nothing of a single one more,
    and leave h free. The minimum is global for convex sets and where a row has at most one entry; for other
    sets it is one that no short step improves on.
    """

    def __init__(self, constraint: Constraint) -> None:
        self.constraint = constraint

    def __call__(self, G: Array, R: Array) -> Array:
        """Return a row for each row of R."""
        if "nonnegative" in self.constraint.offers:
            return block_pivoting(G, R)
        h = self._first(G.astype(np.float64), R.astype(np.float64)).astype(R.dtype)
        return self._descend(G, R, h) if self.constraint.by_rows else h

    def _first(self, G: Array, R: Array) -> Array:
        """Return rows to begin with: without the set, or with as many entries as it allows."""
        most = self.constraint.most_per_row
        if most is None or most >= len(G):
            return R @ np.linalg.pinv(G, hermitian=True)
        return add_columns(G, R, most, self.constraint.nonnegative)

    def _descend(self, G: Array, R: Array, h: Array) -> Array:
        h, step = self.constraint.project(h), R.dtype.type(1 / (np.linalg.norm(G, 2) or 1.0))
        for _ in range(ROUNDS):
            before, h = h, self.constraint.project(h - step * (h @ G - R))
            if np.linalg.norm(h - before) <= STILL * np.linalg.norm(h):
                break
        return h


def add_columns(G: Array, R: Array, most: int, nonnegative: bool) -> Array:
    """Return h with at most `most` entries per row, added one by one where they explain most of the rest.

    Keeping the largest entries of the solution without limit would be wrong: columns have different lengths,
    and what one of them explains, others may explain as well. Samples with the same columns go together.
    """
    h = np.zeros_like(R)
    groups: dict[tuple[int, ...], Array] = {(): np.arange(len(R))}
    for _ in range(most):
        following: dict[tuple[int, ...], list[Array]] = {}
        for columns, rows in groups.items():
            rest = R[rows] - h[rows] @ G
            room = np.diag(G) - _explained(G, columns)
            usable = (room > NEGLIGIBLE * np.diag(G)) & ((rest > 0) | (not nonnegative))
            gains = np.divide(rest**2, room, out=np.zeros_like(rest), where=usable)
            best = np.where(gains.any(axis=1), gains.argmax(axis=1), -1)
            for l in np.unique(best):
                wider = columns if l < 0 else tuple(sorted((*columns, int(l))))
                following.setdefault(wider, []).append(rows[best == l])
        groups = {columns: np.concatenate(parts) for columns, parts in following.items()}
        for columns, rows in groups.items():
            own, inverse = _inverse(G, columns)
            h[np.ix_(rows, own)] = R[np.ix_(rows, own)] @ inverse
    return h


def _explained(G: Array, columns: tuple[int, ...]) -> Array:
    """Return how much of the square of each column lies in the span of the given ones."""
    own, inverse = _inverse(G, columns)
    return np.einsum("lc,cd,ld->l", G[:, own], inverse, G[:, own])


def _inverse(G: Array, columns: tuple[int, ...]) -> tuple[Array, Array]:
    own = np.array(columns, dtype=np.intp)
    return own, np.linalg.pinv(G[np.ix_(own, own)], hermitian=True)
