"""Projected gradient descent, for every constraint: by a search, or by steps that the curvature decides."""

from __future__ import annotations

from collections.abc import Generator
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh_tridiagonal

from symclust import _kernels
from symclust._types import Array
from symclust.exceptions import OptionError
from symclust.objectives import row_blocks
from symclust.solvers._base import Point, Problem, State, Steps, known, relative_length, slack
from symclust.solvers.newton import REDUCTION, ProjectedSearch

__all__ = ["ProjectedGradient"]

MOST_DOUBLINGS = 60
FORGETTING = 0.9  # how fast a correction of L that was needed once is given up again
ROWS = 4096  # at a time, which stay in the cache
SUFFICIENT = 1e-4  # share of L ‖H⁺ − H‖² by which an extrapolated step has to lower f
FIRST_ITERATIONS = 10  # products with a single vector, before the first step
REFRESH = 4  # products from one power iteration to the next
ACCURACY, MOST_VECTORS = 1e-6, 200  # of Lanczos
SEED = 0  # of the vector that power iterations begin with


class ProjectedGradient(ProjectedSearch):
    """H ← P(H − t∇f(H)), for every constraint.

    Parameters
    ----------
    step_rule : {"search", "adaptive", "lanczos", "accelerated"}, default="search"
        How t is found. "search" is symnmf Algorithm 1 with S = I: the longest of a sequence of steps that
        lowers f enough. It starts from the last accepted step enlarged once, not from 1: with S = I the good
        step depends on the scale of A, and every trial costs a product. "adaptive" is constrained
        Algorithm 2, t = 1/(2L) with L from power iterations, and "lanczos" the same with an accurate L.
        "accelerated" adds momentum to it.
    """

    constraint_needs: ClassVar[frozenset[str]] = frozenset()
    on_device: ClassVar[bool] = True

    def __init__(self, step_rule: str = "search") -> None:
        if step_rule != "search" and step_rule not in STEP_RULES:
            known = ", ".join(map(repr, ["search", *STEP_RULES]))
            raise OptionError(f"step_rule={step_rule!r} is not known. Choose one of {known}.")
        self.step_rule = step_rule

    def step(self, problem: Problem, state: State) -> Steps:
        """Take one step of the chosen length."""
        if self.step_rule == "search":
            return super().step(problem, state)
        return STEP_RULES[self.step_rule](problem, state)

    def direction(
        self, problem: Problem, state: State, gradient: Array, held: Array, G: Array
    ) -> Generator[Array, Array, Array]:
        """The gradient."""
        yield from ()
        return gradient

    def first_step(self, state: State, direction: Array) -> float:
        """The last step, enlarged once."""
        if "size" in state.memory:
            return float(state.memory["size"]) / REDUCTION
        return relative_length(state.H, direction)


# Steps whose lengths follow from the curvature --------------------------------------------------------------


def adaptive_step(problem: Problem, state: State) -> Steps:
    """Constrained Algorithm 2: H ← P(H − ∇f/2L) with L of Proposition 1."""
    point = yield from _current(problem, state)
    yield from _descend(problem, state, point)


def lanczos_step(problem: Problem, state: State) -> Steps:
    """Constrained Algorithm 2 as printed: σ_max of each point to six digits, by a dozen products or more."""
    point = yield from _current(problem, state)
    state.memory["sigma"] = yield from largest_by_lanczos(point.H, state.memory["vector"])
    yield from _descend(problem, state, point)


def accelerated_step(problem: Problem, state: State) -> Steps:
    """Step from a point extrapolated over the last two; if that does not descend, start anew.

    Y = H + β(H − H₋) with Nesterov's β, and H⁺ = P(Y − ∇f(Y)/L). MY follows from MH and MH₋, so the step
    costs one product. It has to lower f by a multiple of ‖H⁺ − H‖²; otherwise it is dropped, the momentum
    with it, and a step of Algorithm 2 is taken from H: f never rises, and Y need not lie in the set.
    """
    point, memory = (yield from _current(problem, state)), state.memory
    before, theta = memory.get("before"), memory.get("theta", 1.0)
    following = (1 + np.sqrt(1 + 4 * theta**2)) / 2
    memory["before"], memory["theta"] = point, 1.0
    if before is not None and theta > 1:
        trial, squared, forward = yield from _extrapolated(problem, state, before, (theta - 1) / following)
        if trial.value <= point.value - SUFFICIENT * _bound(state, point) * squared:
            memory["theta"] = following if forward else 1.0
            _accept(state, trial)
            return
        following = (1 + np.sqrt(5)) / 2
    memory["theta"] = following
    yield from _descend(problem, state, point)


def _current(problem: Problem, state: State) -> Generator[Array, Array, Point]:
    """The point of the state, evaluated at most once."""
    H, AH = yield from known(state)
    if "vector" not in state.memory:
        yield from start_estimate(state)
    point = state.memory.get("point")
    return point if point is not None and point.H is H else Point.at(problem, H, AH)


def _accept(state: State, point: Point) -> None:
    state.memory["point"] = point
    state.memory["correction"] = max(1.0, FORGETTING * state.memory.get("correction", 1.0))
    state.move(point.H, point.AH)


def _bound(state: State, point: Point) -> float:
    return state.memory.get("correction", 1.0) * lipschitz(state, point.G)


def _descend(problem: Problem, state: State, point: Point) -> Steps:
    """Take a step of Algorithm 2, with L doubled until f falls as in Theorem 3.

    Proposition 1 leaves out the terms of third and fourth order, and σ_max is estimated from below.
    """
    gradient, L = point.gradient(problem), _bound(state, point)
    rounding = slack(problem)
    if point.H.dtype != np.float64:
        rounding += 4 * float(np.finfo(point.H.dtype).eps) * abs(point.value)
    for _ in range(MOST_DOUBLINGS):
        H = problem.constraint.project(point.H - point.H.dtype.type(1 / (2 * L)) * gradient)
        change = (H - point.H).reshape(-1)
        squared = _kernels.inner(change, change)
        if squared == 0.0:
            break
        trial = Point.at(problem, H, (yield from multiply_and_estimate(state, H)))
        if trial.value <= point.value - L / 2 * squared + rounding:  # (31)
            _accept(state, trial)
            return
        L *= 2
        state.memory["correction"] = 2 * state.memory.get("correction", 1.0)
    state.stalled = "no step along the projected gradient changes H and lowers the objective"


def _extrapolated(
    problem: Problem, state: State, before: Point, beta: float
) -> Generator[Array, Array, tuple[Point, float, bool]]:
    """The step from Y, ‖H⁺ − H‖², and whether H⁺ − H and H⁺ − Y do not point away from each other."""
    point = state.memory["point"]
    H = problem.constraint.project(_step_ahead(problem, point, before, beta, 1 / _bound(state, point)))
    trial = Point.at(problem, H, (yield from multiply_and_estimate(state, H)))
    change = (H - point.H).reshape(-1)
    squared = _kernels.inner(change, change)
    # ⟨Y − H⁺, H⁺ − H⟩ = β⟨H − H₋, H⁺ − H⟩ − ‖H⁺ − H‖²
    along = _kernels.inner(point.H.reshape(-1), change) - _kernels.inner(before.H.reshape(-1), change)
    return trial, squared, beta * along <= squared


def _step_ahead(problem: Problem, point: Point, before: Point, beta: float, size: float) -> Array:
    """Y − t∇f(Y) for Y = H + β(H − H₋), some rows at a time: Y and MY as a whole are never needed.

    YᵀY follows from the Gram matrices that are known and one product of H and H₋.
    """
    crossed = (point.H.T @ before.H).astype(np.float64)
    G = (1 + beta) ** 2 * point.G + beta**2 * before.G - beta * (1 + beta) * (crossed + crossed.T)
    out = np.empty_like(point.H)
    for rows in row_blocks(out, ROWS):
        Y = _ahead(point.H[rows], before.H[rows], beta)
        gradient = problem.objective.gradient(Y, _ahead(point.AH[rows], before.AH[rows], beta), G, rows)
        gradient *= out.dtype.type(-size)
        np.add(Y, gradient, out=out[rows])
    return out


def _ahead(H: Array, before: Array, beta: float) -> Array:
    Y = H - before
    Y *= H.dtype.type(beta)
    Y += H
    return Y


STEP_RULES = {"accelerated": accelerated_step, "adaptive": adaptive_step, "lanczos": lanczos_step}


# How sharply the objective bends: the Lipschitz constant of its gradient, from products alone ---------------


def start_estimate(state: State) -> Generator[Array, Array, None]:
    """Begin power iterations on HHᵀ − M with a vector of its own for each start."""
    n = state.H.shape[0]
    vector = np.random.default_rng(SEED).standard_normal(n)
    vector = (vector / np.linalg.norm(vector)).astype(state.H.dtype)
    state.memory["vector"] = np.asarray(vector, like=state.H)
    for _ in range(FIRST_ITERATIONS):
        product = yield state.memory["vector"][:, None]
        update_estimate(state, state.H, product[:, 0])


def update_estimate(state: State, H: Array, product: Array) -> None:
    """Take one power iteration at H, given the product of M with the vector.

    ‖Sv‖ with ‖v‖ = 1 never exceeds σ_max(S) and tends to it: an estimate from below, for which the test of
    descent that every step has to pass is the safeguard.
    """
    vector = state.memory["vector"]
    image = H @ (H.T @ vector) - product
    size = _kernels.norm(image)
    state.memory["sigma"] = size
    if size > 0:
        state.memory["vector"] = image / H.dtype.type(size)


def largest_by_lanczos(H: Array, vector: Array) -> Generator[Array, Array, float]:
    """σ_max(HHᵀ − M) by the Lanczos iteration, whose vectors stay orthogonal."""
    basis, diagonal, beside, sigma = vector[None], [], [], 0.0
    for _ in range(min(MOST_VECTORS, len(vector))):
        last = basis[-1]
        image = H @ (H.T @ last) - (yield last[:, None])[:, 0]
        diagonal.append(_kernels.inner(image, last))
        for _ in range(2):  # once is not enough
            image = image - basis.T @ (basis @ image)
        beside.append(_kernels.norm(image))
        values, vectors = eigh_tridiagonal(diagonal, beside[:-1])
        top = int(np.argmax(np.abs(values)))
        sigma = abs(float(values[top]))
        if beside[-1] * abs(vectors[-1, top]) <= ACCURACY * sigma:
            break
        basis = np.concatenate([basis, (image / H.dtype.type(beside[-1]))[None]])
    return sigma


def lipschitz(state: State, G: Array) -> float:
    """L = 4 σ_max(HHᵀ − M) + 8 σ_max(HᵀH), constrained Proposition 1; never zero."""
    L = 4 * state.memory["sigma"] + 8 * float(np.linalg.norm(G, 2))
    return L or 1.0


def multiply_and_estimate(state: State, H: Array) -> Generator[Array, Array, Array]:
    """M @ H; every few times the vector of the power iterations rides along, and M is read for both.

    σ_max changes slowly, and a column more costs copies of the others.
    """
    age = state.memory["age"] = state.memory.get("age", 0) + 1
    if age % REFRESH:
        return (yield H)
    product = yield np.concatenate([H, state.memory["vector"][:, None]], axis=1)
    update_estimate(state, H, product[:, -1])
    return product[:, :-1].copy()
