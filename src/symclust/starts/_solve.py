"""From an init to results: starting points in the set of the problem, and the descent from them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from symclust import _kernels, registry
from symclust._threads import single_threaded_blas
from symclust.exceptions import warn
from symclust.objectives import is_sparse_factor
from symclust.operators import Operator
from symclust.solvers import Problem, Result, orthant_solver, rows_pay, run
from symclust.starts._base import Init, Setting, Start
from symclust.storage import recorded
from symclust.validation import check_number

SCOUTING_STEPS = 150  # of projected gradient, in the place of 20 sweeps over the rows
TOO_SHORT = 10.0  # how often a given start would fit into the one of its direction that fits best


class GivenStart(Init):
    """An array for H."""

    fixed: ClassVar[bool] = True
    least_iterations: ClassVar[int] = 1

    def __init__(self, H: Any) -> None:
        self.H = H

    def find(self, setting: Setting) -> list[Start]:
        """A copy, which the solver may change."""
        dtype = setting.problem.operator.dtype
        if not is_sparse_factor(self.H):
            return [Start(np.array(self.H, dtype=dtype, order="C"))]
        if not setting.holds_sparse:
            return [Start(np.ascontiguousarray(self.H.toarray(), dtype=dtype))]
        H = sparse.csr_array(self.H, dtype=dtype, copy=True)
        H.sum_duplicates()
        H.eliminate_zeros()
        return [Start(H)]

    def find_in_set(self, setting: Setting, orthant: Setting, level: float) -> list[Start]:
        """A copy, scaled up if it is far too small."""
        (point,) = self.find(orthant)
        point.H = lengthened(point.H, setting.problem.operator)
        return [point]


def lengthened(H: Any, operator: Operator) -> Any:
    """H, scaled up if it is far too small: near H = 0 gradients are small, and all looks stationary.

    ‖M − c²HHᵀ‖ is least for c² = ⟨H, MH⟩ / ‖HᵀH‖².
    """
    product = operator @ H
    fit, square = _kernels.inner(H.reshape(-1), product.reshape(-1)), _kernels.norm(_kernels.gram(H)[0])
    return H * H.dtype.type(np.sqrt(fit) / square) if fit > TOO_SHORT**2 * square**2 else H


def make_init(init: Any) -> Init:
    """The init of that name, or the one of a given array."""
    return registry.resolve("starts", init)() if isinstance(init, str) else GivenStart(init)


def inits_with(*properties: str) -> tuple[str, ...]:
    """The names of the inits that have all these properties, attributes of `Init`."""
    inits = {name: registry.resolve("starts", name) for name in registry.options("starts")}
    return tuple(name for name, init in inits.items() if all(getattr(init, p) for p in properties))


def count_starts(init: Any, n_init: Any) -> int:
    """How many starts to run: `n_init`, but one if all would be the same."""
    check_number("n_init", n_init, least=1, whole=True)
    if n_init > 1 and make_init(init).fixed:
        warn(f"This init is always the same: one start is run instead of n_init={n_init}.", RuntimeWarning)
        return 1
    return int(n_init)


def solve(init: Any, setting: Setting, orthant: Problem | None = None) -> tuple[list[Result], list[Start]]:
    """Run the solver from all starts side by side; return the results and the starts behind them.

    For a problem on another set than H ≥ 0, `orthant` is the same problem there.
    """
    setting.solver.check(setting.problem)
    found = make_init(init)
    found.check(setting.problem)
    find = partial(_find_in_set, found, setting, orthant) if orthant else partial(_find, found, setting)
    points = recorded("starts", find, setting.rng, partial(_are_starts, setting))
    return run_from(setting, points, found.least_iterations), points


def _find(init: Init, setting: Setting) -> list[Start]:
    """Starting points in H ≥ 0.

    A sample without similarities ends at zero; a solver that only approaches it would leave traces.
    """
    isolated = setting.problem.operator.isolated()
    points = init.find(setting)
    for point in points:
        if is_sparse_factor(point.H):
            point.H.data[np.repeat(isolated, np.diff(point.H.indptr))] = 0
            point.H.eliminate_zeros()
        else:
            point.H[isolated] = 0
    return points


def _find_in_set(init: Init, setting: Setting, orthant: Problem) -> list[Start]:
    """Starting points in the set of the problem.

    Stationarity is measured against a random point of the set: the gradient at a good start would set a bar
    that has nothing to do with the problem.
    """
    problem, operator = setting.problem, setting.problem.operator
    shape = operator.n, setting.n_columns
    norm = float(np.sqrt(problem.objective.squared_norm))
    level = float(np.sqrt(norm / (shape[0] * np.sqrt(shape[1])))) or 1.0
    scout = orthant_solver(operator)
    nonnegative = replace(setting, problem=orthant, solver=scout, scout=scout, dense=True)
    if not rows_pay(operator):
        nonnegative = replace(nonnegative, scout_iterations=SCOUTING_STEPS)
    with single_threaded_blas():
        isolated = operator.isolated()
        points = init.find_in_set(setting, nonnegative, level)
        reference = _reference_at_random(problem, shape, level)
        for point in points:
            point.H[isolated] = 0
            point.H = np.ascontiguousarray(problem.constraint.project(point.H), dtype=operator.dtype)
            point.reference = reference
    return points


def _reference_at_random(problem: Problem, shape: tuple[int, int], level: float) -> float:
    """‖∇ᴾf‖ at a random point of the set, the same on every run."""
    H = problem.constraint.random(shape, np.random.RandomState(0), level)
    H = problem.operator.to_device(np.ascontiguousarray(H, dtype=problem.operator.dtype))
    return problem.measure(H, problem.operator @ H)[1]


def _are_starts(setting: Setting, answer: Any) -> bool:
    """Whether an answer from a checkpoint has starts; once a descent has taken them over, without rows."""
    operator = setting.problem.operator
    return 0 < len(answer) <= setting.n_init and all(
        isinstance(point, Start)
        and (isinstance(point.H, np.ndarray) or is_sparse_factor(point.H))
        and (point.H.shape[1], point.H.dtype) == (setting.n_columns, operator.dtype)
        and point.H.shape[0] in (0, operator.n)
        and (point.reference is None or isinstance(point.reference, Real))
        and isinstance(point.interrupted, bool)
        for point in answer
    )


def run_from(setting: Setting, points: list[Start], least: int) -> list[Result]:
    """Run the solver from these points, which the loop takes over: their H is gone afterwards."""
    references = [point.reference for point in points if point.reference is not None]
    factors = [point.H for point in points]
    for point in points:
        point.H = point.H[:0].copy()  # a second name would keep n × k arrays alive
    return run(
        setting.problem,
        setting.solver,
        factors,
        setting.control,
        references if len(references) == len(points) else None,
        least=least,
        settles=all(is_sparse_factor(H) for H in factors),
        watch_labels=setting.control.settles > 0 and all(point.is_clustering for point in points),
        interrupted=any(point.interrupted for point in points),
    )
