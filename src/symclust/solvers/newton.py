"""Symnmf Algorithm 1: projected search along a gradient scaled by second derivatives."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator
from typing import ClassVar

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.objectives import HasColumnCurvature, HasCurvature, HasGradient
from symclust.solvers._base import Point, Problem, ProductSolver, State, Steps, known, relative_length, slack

__all__ = ["Newton", "NewtonByColumns", "NewtonDelayed", "ProjectedNewton"]

REDUCTION = 0.1  # β and σ of symnmf 7.3
ACCEPTANCE = 0.1
HELD = 1e-16  # ε of (12)
ACCURACY, MOST_STEPS = 1e-6, 100  # of conjugate gradients
SHORTEST = 1e-14  # change of H, relative to it, below which the search gives up


class ProjectedSearch(ProductSolver):
    """H ← [H − α S∇f(H)]⁺ with the largest α = βᵐ that lowers f enough."""

    needs: ClassVar[tuple[type, ...]] = (HasGradient,)

    @abstractmethod
    def direction(
        self, problem: Problem, state: State, gradient: Array, held: Array, G: Array
    ) -> Generator[Array, Array, Array]:
        """S∇f(H); `held` is the set E of (12), on which S must be diagonal."""

    def first_step(self, state: State, direction: Array) -> float:
        """The step size tried first."""
        return 1.0

    def step(self, problem: Problem, state: State) -> Steps:
        """Find the direction, then the step."""
        point = Point.at(problem, *(yield from known(state)))
        H, gradient = point.H, point.gradient(problem)
        held = (H <= HELD) & (gradient > 0)  # (12)
        direction = yield from self.direction(problem, state, gradient, held, point.G)
        size = self.first_step(state, direction)
        # Relative to H, not to 1: the lengths of gradient and H depend on the scale of A.
        shortest = SHORTEST * relative_length(state.H, direction)
        while size >= shortest:
            trial = problem.constraint.project(H - H.dtype.type(size) * direction)
            product = yield trial
            wanted = ACCEPTANCE * _kernels.inner(gradient.reshape(-1), (trial - H).reshape(-1))
            rise = Point.at(problem, trial, product).value - point.value
            if rise <= min(wanted, 0.0) + slack(problem):
                state.memory["size"] = size
                state.move(trial, product)
                return
            size *= REDUCTION
        state.stalled = "no step along the search direction lowers the objective by more than rounding"


class ScaledSearch(ProjectedSearch):
    """The search with S from second derivatives.

    With `blocks`, S has a block for each column of H, (14), or else is one matrix, (11). If it `keeps`, S
    stays as long as the held entries do, (13), or else is renewed in each iteration.
    """

    blocks: ClassVar[bool]
    keeps: ClassVar[bool]

    def direction(
        self, problem: Problem, state: State, gradient: Array, held: Array, G: Array
    ) -> Generator[Array, Array, Array]:
        """S∇f(H)."""
        memory = state.memory
        if not (self.keeps and "held" in memory and np.array_equal(memory["held"], held)):
            memory["held"], memory["point"] = held, state.H
            memory["refreshes"] = memory.get("refreshes", 0) + 1
        point = memory["point"]
        G_point = G if point is state.H else _kernels.gram(point)[0]
        of = problem.objective.column_curvature if self.blocks else problem.objective.curvature

        def curvature(V: Array, AV: Array) -> Array:
            return of(point, V, AV, G_point)

        return (yield from conjugate_gradients(curvature, gradient, ~held, axis=0 if self.blocks else None))


class Newton(ScaledSearch):
    """Symnmf Algorithm 1 with the block-diagonal scaling (14), refreshed by (13).

    Column l of H has its own block of the reduced Hessian. The block is applied through products, A
    included, so nothing of size n × n is formed and a sparse A stays sparse. As long as the active set stays
    the same, so does the block. A block that is not positive definite gives the truncated direction of
    conjugate gradients, at worst the gradient (S = I in the paper).
    """

    needs: ClassVar[tuple[type, ...]] = (HasGradient, HasColumnCurvature)
    blocks, keeps = True, True


class NewtonByColumns(ScaledSearch):
    """Symnmf Algorithm 1 with the block-diagonal scaling (14) alone, renewed in each iteration."""

    needs: ClassVar[tuple[type, ...]] = (HasGradient, HasColumnCurvature)
    blocks, keeps = True, False


class NewtonDelayed(ScaledSearch):
    """Symnmf Algorithm 1 with the whole reduced Hessian, refreshed by (13) alone."""

    needs: ClassVar[tuple[type, ...]] = (HasGradient, HasCurvature)
    blocks, keeps = False, True


class ProjectedNewton(ScaledSearch):
    """Symnmf Algorithm 1 with S the inverse of the reduced Hessian (11), applied by conjugate gradients.

    The paper's O(n³k³) a step is the cost of factors; here a step costs a few dozen products with A. If the
    reduced Hessian is not positive definite, the truncated direction is taken, at worst the gradient.
    """

    needs: ClassVar[tuple[type, ...]] = (HasGradient, HasCurvature)
    blocks, keeps = False, False


def conjugate_gradients(
    curvature: Callable[[Array, Array], Array],
    gradient: Array,
    free: Array,
    axis: int | None,
) -> Generator[Array, Array, Array]:
    """Solve M d = gradient on the free entries by conjugate gradients; products with A are yielded for.

    With ``axis=0`` M is block-diagonal, a block a column, and the columns are solved side by side; with
    ``axis=None`` M is one matrix. If M turns out not to be positive definite, the direction found so far is
    kept, or the gradient itself if that is the very first: a direction of descent in every case. The factors
    of M that the paper computes are never formed: a step costs a few products with A instead of O(n³).
    """

    def inner(x: Array, y: Array) -> Array:
        return np.asarray(np.sum(np.multiply(x, y, dtype=np.float64), axis=axis, keepdims=True))

    residual = gradient * free
    solution = np.zeros_like(residual)
    search = residual.copy()
    squared = first = inner(residual, residual)
    going = squared > 0
    for step in range(MOST_STEPS):
        product = curvature(search, (yield search)) * free
        bend = inner(search, product)
        good = going & (bend > 0)
        if step == 0:
            solution = np.where(good, solution, residual)
        length = np.divide(squared, bend, out=np.zeros_like(bend), where=good)
        solution = (solution + length * search).astype(gradient.dtype)
        residual = (residual - length * product).astype(gradient.dtype)
        following = inner(residual, residual)
        going = good & (following > ACCURACY**2 * first)
        if not np.any(going):
            break
        ratio = np.divide(following, squared, out=np.zeros_like(squared), where=going)
        search = np.where(going, residual + ratio * search, 0).astype(gradient.dtype)
        squared = following
    # On the held entries S is the identity (11).
    return np.where(free, solution, gradient)
