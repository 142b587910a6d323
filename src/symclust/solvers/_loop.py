"""The only loop: clock, history, stopping, callback, interrupt.

Starts run side by side; one that is done leaves the batch and the others go on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.solvers._base import Problem, Solver, State, multiply
from symclust.validation import says_stop

logger = logging.getLogger("symclust")

HISTORY = np.dtype([("iteration", "i8"), ("seconds", "f8"), ("objective", "f8"), ("stationarity", "f8")])


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each iteration of each start.

    `stationarity` is ‖∇ᴾf(H)‖ relative to the first point's. Returning True from the callback stops the run.
    """

    start: int
    iteration: int
    seconds: float
    objective: float
    stationarity: float


@dataclass(frozen=True)
class Control:
    """When to stop, and whom to tell."""

    tol: float = 1e-2
    max_iter: int = 500
    time_limit: float | None = None
    callback: Callable[[Progress], object] | None = None
    clock: float = field(default_factory=time.perf_counter)

    def seconds(self) -> float:
        """Seconds since the work began."""
        return time.perf_counter() - self.clock


@dataclass
class Result:
    """Where one start ended; `stationarity` is relative to `reference`, ‖∇ᴾf‖ at the first point."""

    H: Array
    objective: float
    stationarity: float
    reference: float
    history: np.recarray
    converged: bool
    stop_reason: str

    @property
    def n_iter(self) -> int:
        """Iterations taken."""
        return int(self.history.iteration[-1])


class _Run:
    """One start: its state, its history, and whether it is done."""

    def __init__(
        self, number: int, state: State, reference: float | None, rounding: float, control: Control
    ) -> None:
        self.number, self.state, self.control = number, state, control
        self.reference = state.stationarity if reference is None else reference
        self.rounding = rounding
        self.rows: list[tuple[int, float, float, float]] = []
        self.reason = ""
        self.converged = False
        self.record(0)

    @property
    def relative(self) -> float:
        return self.state.stationarity / self.reference if self.reference > 0 else 0.0

    def record(self, iteration: int) -> None:
        self.rows.append((iteration, self.control.seconds(), self.state.objective, self.relative))

    def reaches_tol(self) -> bool:
        return self.relative <= self.control.tol

    def is_rounding(self) -> bool:
        return self.state.stationarity <= self.rounding

    def looks_stationary(self) -> bool:
        return self.reaches_tol() or self.is_rounding()

    def finish(self, reason: str, converged: bool = False) -> None:
        self.reason, self.converged = reason, converged

    def result(self) -> Result:
        history = np.array(self.rows, dtype=HISTORY).view(np.recarray)
        state = self.state
        return Result(
            state.H, state.objective, self.relative, self.reference, history, self.converged, self.reason
        )


def run(
    problem: Problem,
    solver: Solver,
    starts: Sequence[Array],
    control: Control,
    reference: Sequence[float] | None = None,
    certify: bool = True,
) -> list[Result]:
    """Descend from every start until it is stationary or a limit is met.

    Parameters
    ----------
    problem, solver
        What to minimise and how. A combination that cannot work is refused before the first product.
    starts : sequence of ndarray of shape (n, k)
        The solver may change them in place.
    control : Control
        Limits and callback.
    reference : sequence of float, optional
        What stationarity is relative to, one a start; by default ‖∇ᴾf‖ at the start itself.
    certify : bool, default=True
        Spend a last product on the exact objective and stationarity of points known only from their way.
    """
    solver.check(problem)
    with single_threaded_blas():
        states = [State(H) for H in starts]
        _measure(problem, states)
        given: Sequence[float | None] = reference or [None] * len(states)
        rounding = [problem.objective.rounding(state.H, state.AH) for state in states]
        runs = [_Run(i, state, given[i], rounding[i], control) for i, state in enumerate(states)]
        try:
            _iterate(problem, solver, runs, control)
        except KeyboardInterrupt:
            for unfinished in (r for r in runs if not r.reason):
                unfinished.finish(
                    f"interrupted after {unfinished.rows[-1][0]} iterations; the result so far is kept"
                )
        if certify:
            _measure(problem, [r.state for r in runs if r.state.was_swept])
        for r in runs:
            r.rows[-1] = (*r.rows[-1][:2], r.state.objective, r.relative)
    return [r.result() for r in runs]


def _measure(problem: Problem, states: Sequence[State]) -> None:
    """Fill in objective and stationarity; products that are missing take one reading of A together."""
    unknown = [state for state in states if state.AH is None]
    if unknown and problem.objective.uses_products:
        for state, AH in zip(unknown, multiply(problem.operator, [s.H for s in unknown]), strict=True):
            state.AH = AH
    for state in states:
        state.objective, state.stationarity = problem.measure(state.H, state.AH)
        state.measured = True


def _iterate(problem: Problem, solver: Solver, runs: list[_Run], control: Control) -> None:
    for r in runs:
        if r.is_rounding() or (control.tol > 0 and r.reaches_tol()):
            r.finish("stationary from the start", converged=True)
    iteration = 0
    while active := [r for r in runs if not r.reason]:
        if iteration >= control.max_iter:
            for r in active:
                r.finish(f"stopped at max_iter={control.max_iter} with {_distance(r, control)}")
            return
        iteration += 1
        solver.advance(problem, [r.state for r in active])
        _measure(problem, [r.state for r in active if not r.state.was_swept])
        # Where stationarity was gathered on the way, ask A once more before believing it.
        _measure(problem, [r.state for r in active if r.state.was_swept and r.looks_stationary()])
        for r in active:
            r.record(iteration)
            _judge(r, iteration, control)
        if _told_to_stop(active, iteration, control):
            return


def _distance(r: _Run, control: Control) -> str:
    return f"stationarity {r.relative:.1e} (tol {control.tol:.1e})"


def _judge(r: _Run, iteration: int, control: Control) -> None:
    if r.state.measured and r.reaches_tol():
        r.finish(
            f"converged: stationarity {r.relative:.1e} after {iteration} iterations (tol {control.tol:.1e})",
            True,
        )
    elif r.state.measured and r.is_rounding():
        r.finish(f"converged: stationary to rounding after {iteration} iterations", True)
    elif r.state.settled:
        r.finish(f"converged: {r.state.settled}, after {iteration} iterations", True)
    elif r.state.stalled:
        r.finish(
            f"stopped after {iteration} iterations with stationarity {r.relative:.1e}: {r.state.stalled}"
        )
    elif control.time_limit is not None and control.seconds() >= control.time_limit:
        r.finish(
            f"stopped at time_limit={control.time_limit:g} s after {iteration} iterations "
            f"with stationarity {r.relative:.1e} (tol {control.tol:.1e})"
        )


def _told_to_stop(active: Sequence[_Run], iteration: int, control: Control) -> bool:
    stop = False
    for r in active:
        logger.info(
            "start %d, iteration %d: objective %.6g, stationarity %.2e",
            r.number,
            iteration,
            r.state.objective,
            r.relative,
        )
        if control.callback is not None:
            progress = Progress(r.number, iteration, control.seconds(), r.state.objective, r.relative)
            stop = says_stop(control.callback(progress)) or stop
    if stop:
        for r in (r for r in active if not r.reason):
            r.finish(f"stopped by the callback after {iteration} iterations")
    return stop
